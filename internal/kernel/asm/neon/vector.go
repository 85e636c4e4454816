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
func squaredDistance(m *assembler) {
	m.function("squaredDistanceNEON", 0, "func(n int, a, b *float32) float64")
	const n, a, b = r(0), r(1), r(2)
	m.load(map[r]string{n: "n", a: "a", b: "b"})
	for i := range v(4) {
		m.zero(i)
	}
	m.goes("CBZ %s, sum", n)
	m.label("loop")
	m.ldpNext(4, 5, a)
	m.ldpNext(6, 7, b)
	for i := range v(2) {
		m.widen(16+2*i, 17+2*i, 4+i)
		m.widen(20+2*i, 21+2*i, 6+i)
	}
	for i := range v(4) {
		m.fsubDouble(16+i, 16+i, 20+i)
		m.fmlaDouble(i, 16+i, 16+i)
	}
	m.goes("SUBS $8, %s", n)
	m.goes("BNE loop")
	m.label("sum")
	m.faddDouble(0, 0, 1)
	m.faddDouble(2, 2, 3)
	m.faddDouble(0, 0, 2)
	m.word(0x7e70d800, "faddp d0, v0.2d")
	m.goes("FMOVD F0, ret+24(FP)")
	m.goes("RET")
}
