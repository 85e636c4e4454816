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

// distancesTo writes kernel.DistancesTo for 8·groups vectors; see
// ../nearest.go. Four dimensions of eight vectors take 91 instructions.
func distancesTo(a *assembler) {
	a.function("distancesToNEON", 0,
		"func(groups, depth int, query, vectors *float32, ids *uint32, dst *float64)")
	const groups, depth, query, vectors, ids, dst = r(0), r(1), r(2), r(3), r(4), r(5)
	const base, left, at = r(6), r(14), r(15)
	a.load(map[r]string{groups: "groups", depth: "depth", query: "query", vectors: "vectors", ids: "ids",
		dst: "dst"})
	a.label("group")
	a.goes("CBZ %s, done", groups)
	for i := range r(8) {
		a.goes("MOVWU.P 4(%s), %s", ids, base+i)
		a.goes("MUL %s, %s", depth, base+i)
		a.goes("ADD %s<<2, %s, %s", base+i, vectors, base+i)
	}
	for i := range v(4) {
		a.zero(i)
	}
	a.goes("MOVD %s, %s", query, at)
	a.goes("MOVD %s, %s", depth, left)
	a.label("four")
	a.goes("CMP $4, %s", left)
	a.goes("BLT rest")
	const narrow, q, x, t = v(4), v(5), v(16), v(20)
	a.ldrNext(narrow, at)
	a.widen(q, q+1, narrow)
	for i := range v(4) {
		for j := range v(2) {
			a.ldrNext(narrow, base+r(2*i+j))
			a.widen(x+2*j, x+2*j+1, narrow)
			for k := range v(2) {
				a.fsubDouble(x+2*j+k, x+2*j+k, q+k)
				a.fmulDouble(x+2*j+k, x+2*j+k, x+2*j+k)
			}
		}
		for k := range v(2) {
			a.zip1Double(t+2*k, x+k, x+2+k)
			a.zip2Double(t+2*k+1, x+k, x+2+k)
		}
		for k := range v(4) {
			a.faddDouble(i, i, t+k)
		}
	}
	a.goes("SUB $4, %s", left)
	a.goes("B four")

	a.label("rest")
	a.goes("CBZ %s, store", left)
	a.goes("FMOVS.P 4(%s), F%d", at, q)
	a.goes("FCVTSD F%d, F%d", q, q)
	for i := range v(4) {
		for j := range v(2) {
			a.goes("FMOVS.P 4(%s), F%d", base+r(2*i+j), x+j)
			a.goes("FCVTSD F%d, F%d", x+j, x+j)
			a.goes("FSUBD F%d, F%d, F%d", q, x+j, x+j)
			a.goes("FMULD F%d, F%d, F%d", x+j, x+j, x+j)
		}
		a.zip1Double(t, x, x+1)
		a.faddDouble(i, i, t)
	}
	a.goes("SUB $1, %s", left)
	a.goes("B rest")

	a.label("store")
	for i := range v(4) {
		a.fsqrtDouble(i, i)
	}
	a.stp(0, 1, dst, 0)
	a.stp(2, 3, dst, 32)
	a.goes("ADD $64, %s", dst)
	a.goes("SUB $1, %s", groups)
	a.goes("B group")
	a.label("done")
	a.goes("RET")
}
