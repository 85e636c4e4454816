package main

import "fmt"

// scanRows queries × two registers of words: 24 sums, which leaves two
// registers for words, three for queries and one for a constant.
const (
	scanRows  = 12
	scanWords = 8
)

// Offsets of the fields of kernel.Tile, sixteen numbers each.
const (
	tileTau      = 0
	tileResidual = 64
	tileNorm     = 128
	tileScale    = 192
	tileBias     = 256
)

// scan writes the fused product and threshold of kernel.Geometry.Scan. A group
// of four axes takes 31 instructions for 384 multiply-adds (24 multiply). The
// words are unsigned bytes and SDOT takes signed ones: two of the 31 turn their
// top bits, which lowers a word by 128, and the biases are raised by 128 times
// the sum of the query once a call.
func scan(a *assembler) {
	a.function("scanNEON", 64, "func(panels, groups int, words *byte, heads, bounds *float32, queries *byte, "+
		"tile *float32, hits *uint32) int")
	const panels, groups, words, heads, bounds, queries, tile, hits = r(0), r(1), r(2), r(3), r(4), r(5), r(6), r(7)
	const first, tag, query, left, any, number, biases, weights = r(8), r(9), r(10), r(11), r(12), r(13), r(14), r(15)
	a.load(map[r]string{panels: "panels", groups: "groups", words: "words", heads: "heads", bounds: "bounds",
		queries: "queries", tile: "tile", hits: "hits"})
	a.goes("MOVD %s, %s", hits, first)
	a.goes("MOVD ZR, %s", tag)
	a.goes("MOVD $%s(SB), %s", a.table("wordBits", 1, 2, 4, 8, 16, 32, 64, 128), weights)
	a.goes("CBZ %s, done", panels)
	acc := func(i, j int) v { return v(2*i + j) }
	const w, q, top = v(24), v(26), v(29)
	a.goes("MOVD $adjusted-48(SP), %s", biases)
	a.topBits(top)
	for i := range v(3) {
		a.zero(i)
	}
	a.goes("MOVD %s, %s", queries, query)
	a.goes("MOVD %s, %s", groups, left)
	a.label("sums")
	a.ldr(q+2, query, 32)
	a.ldpStep(q, q+1, query, 64)
	for i := range v(3) {
		a.sdot(i, q+i, top) // −128 times the sum
	}
	a.goes("SUBS $1, %s", left)
	a.goes("BNE sums")
	for i := range v(3) {
		a.ldr(q, tile, tileBias+16*uint32(i))
		a.sub(q, q, i)
		a.str(q, biases, 16*uint32(i))
	}

	a.label("panel")
	a.topBits(top)
	a.ldp(q, q+1, biases, 0)
	a.ldr(q+2, biases, 32)
	for i := range scanRows {
		for j := range 2 {
			a.dup(acc(i, j), q+v(i/4), uint32(i%4))
		}
	}
	a.goes("MOVD %s, %s", queries, query)
	a.goes("MOVD %s, %s", groups, left)
	a.label("loop")
	a.ldpNext(w, w+1, words)
	a.ldr(q+2, query, 32)
	a.ldpStep(q, q+1, query, 64)
	a.eor(w, w, top)
	a.eor(w+1, w+1, top)
	for i := range scanRows {
		for j := range 2 {
			a.sdotElement(acc(i, j), w+v(j), q+v(i/4), uint32(i%4))
		}
	}
	a.goes("SUBS $1, %s", left)
	a.goes("BNE loop")

	const h, bound, slack, factor, t = v(24), v(26), v(27), v(28), v(30)
	a.ldpNext(h, h+1, heads)
	a.ldrNext(bound, bounds)
	for i := range scanRows {
		if i%4 == 0 {
			// The slack of four queries in this panel: a·τ + b·residual + c·norm + d.
			a.dup(slack, bound, 3)
			for k, at := range []uint32{tileTau, tileResidual, tileNorm} {
				a.ldr(factor, tile, at+4*uint32(i))
				a.fmlaElement(slack, factor, bound, uint32(k))
			}
			a.ldr(factor, tile, tileScale+4*uint32(i))
		}
		for j := range 2 {
			x := acc(i, j)
			a.scvtf(x, x)
			a.dup(t+v(j), slack, uint32(i%4))
			a.fmlaElement(t+v(j), x, factor, uint32(i%4))
			a.fcmge(x, t+v(j), h+v(j))
		}
		// A word passes where its head is at most its product and slack.
		next := fmt.Sprintf("next%d", i)
		a.orr(t, acc(i, 0), acc(i, 1))
		a.umaxp(t, t, t)
		a.toGeneral(any, t)
		a.goes("CBZ %s, %s", any, next)
		a.ldp(t, t+1, weights, 0)
		a.and(t, t, acc(i, 0))
		a.and(t+1, t+1, acc(i, 1))
		a.orr(t, t, t+1)
		a.addAcross(t, t)
		a.toGeneral32(any, t)
		a.goes("MOVD $%d, %s", i, number)
		a.goes("MOVW %s, 0(%s)", tag, hits)
		a.goes("MOVW %s, 4(%s)", number, hits)
		a.goes("MOVW %s, 8(%s)", any, hits)
		a.goes("ADD $12, %s", hits)
		a.label(next)
	}
	a.goes("ADD $1, %s", tag)
	a.goes("SUBS $1, %s", panels)
	a.goes("BNE panel")
	a.label("done")
	a.goes("SUB %s, %s, %s", first, hits, hits) // in bytes
	a.goes("MOVD %s, ret+64(FP)", hits)
	a.goes("RET")
}
