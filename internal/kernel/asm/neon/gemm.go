package main

import "fmt"

// gemmTile writes C[rows × 16] = Σₚ A[·,p]·B[p,·] + F, with the
// arguments of ../gemm.go. Six rows of sums fill 24 registers, which leaves
// four for a row of B and four for numbers of A; they take 35 instructions for
// 96 multiply-adds: 24 fused multiply-adds, 8 loads, 3 of the loop.
func gemmTile(a *assembler, rows int) {
	a.function(fmt.Sprintf("gemmNEON_%d", rows), 0, "func(k int, a *float32, rowStride, colStride int, b *float32, "+
		"bStride int, c *float32, cStride int, from *float32, fromStride int)")
	const k, rowStride, colStride, b, bStride, c, cStride, row = r(0), r(2), r(3), r(4), r(5), r(6), r(7), r(8)
	const from, fromStride = r(14), r(15)
	a.load(map[r]string{k: "k", row: "a", rowStride: "rowStride", colStride: "colStride", b: "b",
		bStride: "bStride", c: "c", cStride: "cStride", from: "from", fromStride: "fromStride"})
	for i := 1; i < rows; i++ {
		a.goes("ADD %s, %s, %s", rowStride, row+r(i-1), row+r(i))
	}
	acc := func(i, j int) v { return v(4*i + j) }
	for i := range rows {
		for j := range 4 {
			a.zero(acc(i, j))
		}
	}
	a.goes("CBZ %s, store", k)
	a.label("loop")
	a.ldp(24, 25, b, 0)
	a.ldp(26, 27, b, 32)
	a.goes("ADD %s, %s", bStride, b)
	for i := range rows {
		x := v(28 + i%4)
		a.fillBy(x, row+r(i), colStride)
		for j := range 4 {
			a.fmla(acc(i, j), 24+v(j), x)
		}
	}
	a.goes("SUBS $1, %s", k)
	a.goes("BNE loop")

	a.label("store")
	a.goes("CBNZ %s, accumulate", from)
	for _, read := range []bool{false, true} {
		if read {
			a.label("accumulate")
		}
		for i := range rows {
			if read {
				a.ldp(28, 29, from, 0)
				a.ldp(30, 31, from, 32)
				a.goes("ADD %s, %s", fromStride, from)
				for j := range 4 {
					a.fadd(acc(i, j), acc(i, j), 28+v(j))
				}
			}
			a.stp(acc(i, 0), acc(i, 1), c, 0)
			a.stp(acc(i, 2), acc(i, 3), c, 32)
			a.goes("ADD %s, %s", cStride, c)
		}
		a.goes("RET")
	}
}
