package main

// weightSum writes func(n int, row, law *float32) float64 for n a multiple of
// four; see kernel.WeightSum. law holds offset, most, least and rate.
func weightSum(a *assembler) {
	a.function("weightSumNEON", 0, "func(n int, row, law *float32) float64")
	const n, row, law, infinity = r(0), r(1), r(2), r(3)
	const offset, most, least, rate, infinite, none, absent, sum = v(4), v(5), v(6), v(7), v(8), v(9), v(10), v(12)
	a.load(map[r]string{n: "n", row: "row", law: "law"})
	a.loadConstants(expConstants)
	for i := range v(4) {
		a.fillNext(offset+i, law)
	}
	a.goes("MOVD $%s(SB), %s", a.table("infinity", 0x7f800000), infinity)
	a.fill(infinite, infinity)
	for _, x := range []v{none, sum, sum + 1} {
		a.zero(x)
	}
	a.label("loop")
	a.goes("CBZ %s, done", n)
	a.ldrNext(0, row)
	a.fcmeq(absent, 0, infinite)
	a.fadd(0, 0, offset)
	a.fmax(0, 0, none)
	a.fsqrt(0, 0)
	a.fmin(0, 0, most)
	a.fsub(0, least, 0)
	a.fmul(0, 0, rate)
	expLane(a)
	a.bic(0, 0, absent)
	a.widen(1, 2, 0)
	a.faddDouble(sum, sum, 1)
	a.faddDouble(sum+1, sum+1, 2)
	a.goes("SUB $4, %s", n)
	a.goes("B loop")
	a.label("done")
	a.faddDouble(0, sum, sum+1)
	a.word(0x7e70d800, "faddp d0, v0.2d")
	a.goes("FMOVD F0, ret+24(FP)")
	a.goes("RET")
}
