package main

import "strings"

// cell begins an LSTM cell function: R0 counts registers, R4 to R7 point to
// the four gates, R8 and on to the other arrays. Every store to an array
// advances its pointer.
func cell(a *assembler, name string, others ...string) {
	a.function(name+"NEON", 0, "func(h int, gates, "+strings.Join(others, ", ")+" *float32)")
	a.load(map[r]string{0: "h", 4: "gates"})
	for i := r(5); i < 8; i++ {
		a.goes("ADD R0<<2, %s, %s", i-1, i)
	}
	for i, o := range others {
		a.goes("MOVD %s+%d(FP), %s", o, 16+8*i, r(8+i))
	}
	a.loadConstants(activationConstants)
	a.label("loop")
}

func endCell(a *assembler) {
	a.goes("SUBS $4, R0")
	a.goes("BNE loop")
	a.goes("RET")
}

// cellForward writes i, f, o = σ, g = tanh of the gates in place,
// c = f∘prev + i∘g, tanh c and the hidden state o∘tanh c, for h a multiple of
// four.
func cellForward(a *assembler) {
	cell(a, "cellForward", "prev", "cell", "tanh", "hidden")
	activated := func(gate r, lane func(*assembler)) {
		a.ldr(0, gate, 0)
		lane(a)
		a.strNext(0, gate)
	}
	const c, in, t = v(6), v(7), v(8)
	activated(5, sigmoidLane)
	a.ldrNext(c, 8)
	a.fmul(c, c, 0)
	activated(4, sigmoidLane)
	a.mov(in, 0)
	activated(7, tanhLane)
	a.fmla(c, in, 0)
	a.strNext(c, 9)
	a.mov(0, c)
	tanhLane(a)
	a.mov(t, 0)
	a.strNext(t, 10)
	activated(6, sigmoidLane)
	a.fmul(t, t, 0)
	a.strNext(t, 11)
	endCell(a)
}

// cellBackward is the derivative of cellForward: the gates become the
// derivatives with respect to their values before activation, dc that with
// respect to prev; dh is that with respect to the hidden state.
func cellBackward(a *assembler) {
	cell(a, "cellBackward", "prev", "tanh", "dh", "dc")
	const in, forget, out, g, prev, t, e, dc, slope, rest = v(0), v(1), v(2), v(3), v(4), v(5), v(6), v(7), v(8), v(9)
	a.ldr(in, 4, 0)
	a.ldr(forget, 5, 0)
	a.ldr(out, 6, 0)
	a.ldr(g, 7, 0)
	a.ldrNext(prev, 8)
	a.ldrNext(t, 9)
	a.ldrNext(e, 10)
	a.ldr(dc, 11, 0)
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
	a.strNext(t, 6)
	flat(g)
	a.fmul(slope, slope, dc)
	a.fmul(slope, slope, in)
	a.strNext(slope, 7)
	a.fmul(g, g, dc)
	through(in, g)
	a.strNext(g, 4)
	a.fmul(prev, prev, dc)
	a.fmul(dc, dc, forget)
	a.strNext(dc, 11)
	through(forget, prev)
	a.strNext(prev, 5)
	endCell(a)
}
