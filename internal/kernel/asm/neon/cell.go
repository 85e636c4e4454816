package main

import "strings"

// Registers of an LSTM cell function: the gates of a row, those of its word,
// and the other arrays.
const (
	cellGates  = r(4)
	cellOthers = r(8)
	cellWord   = r(12)
	cellFresh  = v(11) // all ones for a negative word
)

// cell writes the loops of an LSTM cell function over rows of h numbers, h a
// multiple of four. Of gates and of the row of words in table, gate k is 4k·h
// bytes from the first; lanes does four numbers and advances all pointers.
func cell(a *assembler, name, table string, others []string, lanes func()) {
	a.function(name+"NEON", 0,
		"func(rows, h int, words *int32, "+table+", gates, "+strings.Join(others, ", ")+" *float32)")
	const rows, h, words, base, count, h3, word, sign = r(0), r(1), r(2), r(3), r(16), r(17), r(19), r(21)
	to := map[r]string{rows: "rows", h: "h", words: "words", base: table, cellGates: "gates"}
	for i, name := range others {
		to[cellOthers+r(i)] = name
	}
	a.load(to)
	a.goes("LSL $2, %s", h)
	a.goes("ADD %s<<1, %s, %s", h, h, h3)
	for i := r(1); i < 4; i++ {
		a.goes("ADD %s, %s, %s", h, cellGates+i-1, cellGates+i)
	}
	a.loadConstants(activationConstants)
	a.label("row")
	a.goes("MOVW.P 4(%s), %s", words, word)
	a.goes("ASR $63, %s, %s", word, sign)
	a.goes("EOR %s, %s", sign, word)
	a.dupGeneral(cellFresh, sign)
	a.goes("MUL %s, %s", h, word)
	a.goes("ADD %s<<2, %s, %s", word, base, cellWord)
	for i := r(1); i < 4; i++ {
		a.goes("ADD %s, %s, %s", h, cellWord+i-1, cellWord+i)
	}
	a.goes("MOVD %s, %s", h, count)
	a.label("loop")
	lanes()
	a.goes("SUBS $16, %s", count)
	a.goes("BNE loop")
	for i := range r(4) {
		a.goes("ADD %s, %s", h3, cellGates+i)
	}
	a.goes("SUBS $1, %s", rows)
	a.goes("BNE row")
	a.goes("RET")
}

// cellForward is that of ../cell.go.
func cellForward(a *assembler) {
	const sum, in, t, word = v(6), v(7), v(8), v(9)
	cell(a, "cellForward", "input", []string{"prev", "cell", "tanh", "hidden"}, func() {
		activated := func(gate r, lane func(*assembler)) {
			a.ldr(0, cellGates+gate, 0)
			a.ldrNext(word, cellWord+gate)
			a.fadd(0, 0, word)
			lane(a)
			a.strNext(0, cellGates+gate)
		}
		activated(1, sigmoidLane)
		a.ldrNext(sum, cellOthers)
		a.fmul(sum, sum, 0)
		activated(0, sigmoidLane)
		a.mov(in, 0)
		activated(3, tanhLane)
		a.fmla(sum, in, 0)
		a.strNext(sum, cellOthers+1)
		a.mov(0, sum)
		tanhLane(a)
		a.mov(t, 0)
		a.strNext(t, cellOthers+2)
		activated(2, sigmoidLane)
		a.fmul(t, t, 0)
		a.strNext(t, cellOthers+3)
	})
}

// cellBackward is that of ../cell.go.
func cellBackward(a *assembler) {
	const in, forget, out, g, prev, t, e, dc = v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7)
	const slope, rest, word = v(8), v(9), v(10)
	cell(a, "cellBackward", "sum", []string{"prev", "tanh", "dh", "dc"}, func() {
		for i, x := range []v{in, forget, out, g} {
			a.ldr(x, cellGates+r(i), 0)
		}
		a.ldrNext(prev, cellOthers)
		a.ldrNext(t, cellOthers+1)
		a.ldrNext(e, cellOthers+2)
		a.ldr(dc, cellOthers+3, 0)
		store := func(d v, gate r) {
			a.strNext(d, cellGates+gate)
			a.ldr(word, cellWord+gate, 0)
			a.bic(word, word, cellFresh)
			a.fadd(word, word, d)
			a.strNext(word, cellWord+gate)
		}
		// through multiplies d by the derivative of σ at its value s: s(1 − s).
		through := func(s, d v) {
			a.fmul(d, d, s)
			a.fsub(rest, cOne, s)
			a.fmul(d, d, rest)
		}
		// flat is 1 − t², the derivative of tanh at its value t.
		flat := func(t v) {
			a.mov(slope, cOne)
			a.fmls(slope, t, t)
		}
		flat(t)
		a.fmul(slope, slope, out)
		a.fmla(dc, e, slope) // with respect to c
		a.fmul(t, t, e)
		through(out, t)
		store(t, 2)
		flat(g)
		a.fmul(slope, slope, dc)
		a.fmul(slope, slope, in)
		store(slope, 3)
		a.fmul(g, g, dc)
		through(in, g)
		store(g, 0)
		a.fmul(prev, prev, dc)
		a.fmul(dc, dc, forget)
		a.strNext(dc, cellOthers+3)
		through(forget, prev)
		store(prev, 1)
	})
}
