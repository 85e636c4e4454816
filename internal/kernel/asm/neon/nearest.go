package main

// fold writes dst = min(dst, src) for n a multiple of four.
func fold(a *assembler) {
	a.function("foldNEON", 0, "func(n int, dst, src *float32)")
	const n, dst, src = r(0), r(1), r(2)
	a.load(map[r]string{n: "n", dst: "dst", src: "src"})
	a.label("loop")
	a.goes("CBZ %s, done", n)
	a.ldrNext(0, src)
	a.ldr(1, dst, 0)
	a.fmin(0, 0, 1)
	a.strNext(0, dst)
	a.goes("SUB $4, %s", n)
	a.goes("B loop")
	a.label("done")
	a.goes("RET")
}

// atMost writes a bit for each of 32·masks numbers: whether it is at most the
// limit.
func atMost(a *assembler) {
	a.function("atMostNEON", 0, "func(masks int, row *float32, limit float32, dst *uint32)")
	const n, row, dst, at, mask = r(0), r(1), r(2), r(3), r(4)
	const limit, weights = v(8), v(16)
	a.load(map[r]string{n: "masks", row: "row"})
	a.goes("MOVD $limit+16(FP), %s", at)
	a.fill(limit, at)
	a.load(map[r]string{dst: "dst"})
	var bits [32]uint32
	for i := range bits {
		bits[i] = 1 << i
	}
	a.goes("MOVD $%s(SB), %s", a.table("bits", bits[:]...), at)
	for i := v(0); i < 8; i += 2 {
		a.ldpNext(weights+i, weights+i+1, at)
	}
	a.label("loop")
	a.goes("CBZ %s, done", n)
	for i := v(0); i < 8; i += 2 {
		a.ldpNext(i, i+1, row)
	}
	for i := range v(8) {
		a.fcmge(i, limit, i)
		a.and(i, i, weights+i)
	}
	for step := v(1); step < 8; step *= 2 {
		for i := v(0); i < 8; i += 2 * step {
			a.orr(i, i, i+step)
		}
	}
	a.addAcross(0, 0)
	a.toGeneral32(mask, 0)
	a.goes("MOVW.P %s, 4(%s)", mask, dst)
	a.goes("SUB $1, %s", n)
	a.goes("B loop")
	a.label("done")
	a.goes("RET")
}
