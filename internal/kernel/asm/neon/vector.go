package main

// dot writes func(n int, a, b *float32) float32 for n a multiple of four.
func dot(m *assembler) {
	m.function("dotNEON", 0, "float32", argument{"n", "int"}, argument{"a", "*float32"}, argument{"b", "*float32"})
	const n, a, b = r(0), r(1), r(2)
	m.load(0, map[r]string{n: "n", a: "a", b: "b"}, n, a, b)
	for i := range v(4) {
		m.zero(i)
	}
	m.label("blocks")
	m.goes("CMP $16, %s", n)
	m.goes("BLT rest")
	m.ldpNext(4, 5, a)
	m.ldpNext(6, 7, a)
	m.ldpNext(16, 17, b)
	m.ldpNext(18, 19, b)
	for i := range v(4) {
		m.fmla(i, 4+i, 16+i)
	}
	m.goes("SUB $16, %s", n)
	m.goes("B blocks")
	m.label("rest")
	m.goes("CBZ %s, sum", n)
	m.ldrNext(4, a)
	m.ldrNext(5, b)
	m.fmla(0, 4, 5)
	m.goes("SUB $4, %s", n)
	m.goes("B rest")
	m.label("sum")
	m.fadd(0, 0, 1)
	m.fadd(2, 2, 3)
	m.fadd(0, 0, 2)
	m.faddp(0, 0, 0)
	m.faddp(0, 0, 0)
	m.goes("FMOVS F0, ret+24(FP)")
	m.goes("RET")
}

// axpy writes y += alpha·x for n a multiple of four.
func axpy(a *assembler) {
	a.function("axpyNEON", 0, "", argument{"n", "int"}, argument{"alpha", "float32"},
		argument{"x", "*float32"}, argument{"y", "*float32"})
	const n, x, y = r(0), r(1), r(2)
	a.goes("MOVD n+0(FP), %s", n)
	a.goes("MOVD $alpha+8(FP), R3")
	a.fill(0, 3)
	a.load(16, map[r]string{x: "x", y: "y"}, x, y)
	a.label("loop")
	a.goes("CBZ %s, done", n)
	a.ldrNext(1, x)
	a.ldr(2, y, 0)
	a.fmla(2, 1, 0)
	a.strNext(2, y)
	a.goes("SUB $4, %s", n)
	a.goes("B loop")
	a.label("done")
	a.goes("RET")
}

// peakChains is four units × four cycles of latency, and some more.
const peakChains = 24

// peak writes n rounds of independent fused multiply-adds on registers: the
// machine's ceiling, against which the kernels are measured.
func peak(a *assembler) {
	a.function("peakNEON", 0, "", argument{"n", "int"})
	a.goes("MOVD n+0(FP), R0")
	for i := range v(peakChains + 1) {
		a.zero(i)
	}
	a.label("loop")
	for range 4 {
		for i := range v(peakChains) {
			a.fmla(i, peakChains, peakChains)
		}
	}
	a.goes("SUBS $1, R0")
	a.goes("BNE loop")
	a.goes("RET")
}

// squaredDistance writes Σ(aᵢ−bᵢ)² in float64 for n a multiple of eight: 20
// instructions for eight terms.
func squaredDistance(m *assembler) {
	m.function("squaredDistanceNEON", 0, "float64",
		argument{"n", "int"}, argument{"a", "*float32"}, argument{"b", "*float32"})
	const n, a, b = r(0), r(1), r(2)
	m.load(0, map[r]string{n: "n", a: "a", b: "b"}, n, a, b)
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
