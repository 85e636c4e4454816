package main

// axpy writes y += alpha·x, product and sum rounded separately, for n a
// multiple of four.
func axpy(a *assembler) {
	a.function("axpyNEON", 0, "func(n int, alpha float32, x, y *float32)")
	const n, x, y = r(0), r(1), r(2)
	a.goes("MOVD n+0(FP), %s", n)
	a.goes("MOVD $alpha+8(FP), R3")
	a.fill(0, 3)
	a.load(map[r]string{x: "x", y: "y"})
	a.label("loop")
	a.goes("CBZ %s, done", n)
	a.ldrNext(1, x)
	a.ldr(2, y, 0)
	a.fmul(1, 1, 0)
	a.fadd(2, 2, 1)
	a.strNext(2, y)
	a.goes("SUB $4, %s", n)
	a.goes("B loop")
	a.label("done")
	a.goes("RET")
}

// squaredDistance writes Σ(aᵢ−bᵢ)² in float64 for n a multiple of eight: 20
// instructions for eight terms.
func squaredDistance(a *assembler) {
	a.function("squaredDistanceNEON", 0, "func(n int, a, b *float32) float64")
	const n, x, y = r(0), r(1), r(2)
	a.load(map[r]string{n: "n", x: "a", y: "b"})
	for i := range v(4) {
		a.zero(i)
	}
	a.goes("CBZ %s, sum", n)
	a.label("loop")
	a.ldpNext(4, 5, x)
	a.ldpNext(6, 7, y)
	for i := range v(2) {
		a.widen(16+2*i, 17+2*i, 4+i)
		a.widen(20+2*i, 21+2*i, 6+i)
	}
	for i := range v(4) {
		a.fsubDouble(16+i, 16+i, 20+i)
		a.fmlaDouble(i, 16+i, 16+i)
	}
	a.goes("SUBS $8, %s", n)
	a.goes("BNE loop")
	a.label("sum")
	a.faddDouble(0, 0, 1)
	a.faddDouble(2, 2, 3)
	a.faddDouble(0, 0, 2)
	a.word(0x7e70d800, "faddp d0, v0.2d")
	a.goes("FMOVD F0, ret+24(FP)")
	a.goes("RET")
}
