package main

// pairs writes kernel.Panels.Distances or InnerProducts; see ../pairs.go. A
// pass takes eight words and four queries. For 32 pairs a dimension takes 57
// instructions (48 of arithmetic) for distances, which round twice, and 25 (16)
// for inner products.
func pairs(a *assembler, distance bool) {
	const panelWords, pairRows, passWords = 32, 4, 8
	name := "innerProducts"
	if distance {
		name = "distances"
	}
	a.function(name+"NEON", 0, "func(panels, depth int, words *float32, queries, dst *float64, stride int)")
	const panels, depth, words, queries, dst, stride = r(0), r(1), r(2), r(3), r(4), r(5)
	const size, passes, at, query, left, row = r(6), r(7), r(8), r(9), r(10), r(11)
	a.load(map[r]string{panels: "panels", depth: "depth", words: "words",
		queries: "queries", dst: "dst", stride: "stride"})
	a.goes("LSL $3, %s", stride)
	a.goes("LSL $7, %s, %s", depth, size) // bytes of a panel
	a.goes("CBZ %s, done", panels)
	a.label("panel")
	a.goes("MOVD $%d, %s", panelWords/passWords, passes)
	a.label("pass")
	acc := func(i, j v) v { return 4*i + j }
	for i := range v(16) {
		a.zero(i)
	}
	a.goes("MOVD %s, %s", words, at)
	a.goes("MOVD %s, %s", queries, query)
	a.goes("MOVD %s, %s", depth, left)
	a.label("loop")
	const x, q, narrow, t = v(16), v(20), v(24), v(26)
	a.ldp(narrow, narrow+1, at, 0)
	a.goes("ADD $%d, %s", 4*panelWords, at)
	a.fillFourDoubles(q, query)
	a.widen(x, x+1, narrow)
	a.widen(x+2, x+3, narrow+1)
	for i := range v(pairRows) {
		for j := range v(4) {
			if !distance {
				a.fmlaDouble(acc(i, j), x+j, q+i)
				continue
			}
			d := t + j
			a.fsubDouble(d, x+j, q+i)
			a.fmulDouble(d, d, d)
			a.faddDouble(acc(i, j), acc(i, j), d)
		}
	}
	a.goes("SUBS $1, %s", left)
	a.goes("BNE loop")
	a.goes("MOVD %s, %s", dst, row)
	for i := range v(pairRows) {
		if distance {
			for j := range v(4) {
				a.fsqrtDouble(acc(i, j), acc(i, j))
			}
		}
		a.stp(acc(i, 0), acc(i, 1), row, 0)
		a.stp(acc(i, 2), acc(i, 3), row, 32)
		if i+1 < pairRows {
			a.goes("ADD %s, %s", stride, row)
		}
	}
	a.goes("ADD $%d, %s", 4*passWords, words)
	a.goes("ADD $%d, %s", 8*passWords, dst)
	a.goes("SUBS $1, %s", passes)
	a.goes("BNE pass")
	a.goes("SUB $%d, %s", 4*panelWords, words)
	a.goes("ADD %s, %s", size, words)
	a.goes("SUBS $1, %s", panels)
	a.goes("BNE panel")
	a.label("done")
	a.goes("RET")
}
