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
