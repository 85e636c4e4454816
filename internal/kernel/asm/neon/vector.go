package main

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
