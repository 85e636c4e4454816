package main

import "fmt"

// tileRows is the number of rows of the largest tile.
func tileRows(m machine) int {
	if m.lanes == 16 {
		return 14
	}
	return 6
}

// gemmTile writes C[rows × registers] = Σₚ A[·,p]·B[p,·] + F; F, from, may be
// C, and is 0 where it is nil. All strides are in bytes.
func gemmTile(m machine, rows, registers int) {
	f := m.begin(fmt.Sprintf("gemm%d", rows), "k int, a *float32, rowStride int, colStride int, b *float32, "+
		"bStride int, c *float32, cStride int, from *float32, fromStride int", "")
	width := m.lanes * 4
	k := f.value("k")
	step := f.value("colStride")
	element, next := f.column(f.value("a"), f.value("rowStride"), step, rows)
	b := f.value("b")
	bStride := f.value("bStride")
	acc := make([][]reg, rows)
	for r := range acc {
		acc[r] = f.zeros(registers)
	}
	f.jumpZero(k, "store")
	f.label("loop")
	var row []reg
	for j := range registers {
		row = append(row, f.load(at(b, j*width)))
	}
	f.do("ADDQ", bStride, b)
	for r := range acc {
		scalar := element(r)
		for j, x := range row {
			f.into(acc[r][j], fma, x, scalar)
		}
	}
	next()
	f.count(k, 1, "loop")

	f.label("store")
	c := f.value("c")
	stride := f.value("cStride")
	from := f.value("from")
	fromStride := f.value("fromStride")
	f.jumpZero(from, "alone")
	for _, read := range []bool{true, false} {
		if !read {
			f.label("alone")
		}
		for r := range acc {
			for j, x := range acc[r] {
				if read {
					f.into(x, add, x, at(from, j*width))
				}
				f.store(x, at(c, j*width))
			}
			f.do("ADDQ", stride, c)
			if read {
				f.do("ADDQ", fromStride, from)
			}
		}
		f.returns()
	}
	f.end()
}

// column reads a column of A, each number into all places of a register, and
// goes to the next, so that neither A nor its transpose is ever packed. amd64
// reaches rows from few base registers: base, base + stride, base + 2·stride.
func (f *function) column(a, stride, step reg, rows int) (element func(r int) reg, next func()) {
	bases := []reg{a}
	if f.neon() {
		for len(bases) < rows {
			base := f.general()
			f.goes("ADD %v, %v, %v", stride, bases[len(bases)-1], base)
			bases = append(bases, base)
		}
		return func(r int) reg {
			x := f.vector()
			f.word("ld1r {%v.4s}, [%v], %v", x, bases[r], step)
			return x
		}, func() {}
	}
	three := f.general()
	f.goes("LEAQ (%v)(%v*2), %v", stride, stride, three)
	for r := 3; r < rows; r += 3 {
		base := f.general()
		f.goes("LEAQ (%v)(%v*1), %v", bases[len(bases)-1], three, base)
		bases = append(bases, base)
	}
	element = func(r int) reg {
		x := f.vector()
		if r%3 == 0 {
			f.word("VBROADCASTSS (%v), %v", bases[r/3], x)
		} else {
			f.word("VBROADCASTSS (%v)(%v*%v), %v", bases[r/3], stride, r%3, x)
		}
		return x
	}
	return element, func() {
		for _, base := range bases {
			f.do("ADDQ", step, base)
		}
	}
}
