package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cell loads the arguments of an LSTM cell function: the four gates of h
// numbers each, an index in bytes and its end, then the other arrays.
func cell(names ...string) (gates [4]reg.Register, others []reg.Register, index, end reg.GPVirtual) {
	end = Load(Param("h"), GP64()).(reg.GPVirtual)
	SHLQ(U8(2), end)
	gates[0] = Load(Param("gates"), GP64())
	for k := 1; k < 4; k++ {
		next := GP64()
		LEAQ(Mem{Base: gates[k-1], Index: end, Scale: 1}, next)
		gates[k] = next
	}
	for _, name := range names {
		others = append(others, Load(Param(name), GP64()))
	}
	index = GP64()
	XORQ(index, index)
	return gates, others, index, end
}

// cellForward writes i, f, o = σ, g = tanh of the gates in place,
// c = f∘prev + i∘g, tanh c and the hidden state o∘tanh c, for h a multiple of
// eight.
func cellForward() {
	TEXT("cellForwardAVX2", NOSPLIT, "func(h int, gates, prev, cell, tanh, hidden *float32)")
	Pragma("noescape")
	gates, others, index, end := cell("prev", "cell", "tanh", "hidden")
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: index, Scale: 1} }
	activated := func(gate int, lane func(Op) Op) Op {
		x := YMM()
		VMOVUPS(at(gates[gate]), x)
		y := lane(x)
		VMOVUPS(y, at(gates[gate]))
		return y
	}
	Label("loop")
	c := activated(1, sigmoidLane)
	VMULPS(at(others[0]), c, c)
	in := activated(0, sigmoidLane)
	g := activated(3, tanhLane)
	VFMADD231PS(in, g, c)
	VMOVUPS(c, at(others[1]))
	t := tanhLane(c)
	VMOVUPS(t, at(others[2]))
	o := activated(2, sigmoidLane)
	VMULPS(o, t, t)
	VMOVUPS(t, at(others[3]))
	ADDQ(U32(32), index)
	CMPQ(index, end)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// cellBackward is the derivative of cellForward: the gates become the
// derivatives with respect to their values before activation, dc that with
// respect to prev; dh is that with respect to the hidden state.
func cellBackward() {
	TEXT("cellBackwardAVX2", NOSPLIT, "func(h int, gates, prev, tanh, dh, dc *float32)")
	Pragma("noescape")
	gates, others, index, end := cell("prev", "tanh", "dh", "dc")
	at := func(base reg.Register) Mem { return Mem{Base: base, Index: index, Scale: 1} }
	load := func(base reg.Register) Op {
		x := YMM()
		VMOVUPS(at(base), x)
		return x
	}
	one := YMM()
	VMOVUPS(constant(1), one)
	// through multiplies d by the derivative of σ at its value s: s(1 − s).
	through := func(s, d Op) {
		VMULPS(s, d, d)
		rest := YMM()
		VSUBPS(s, one, rest)
		VMULPS(rest, d, d)
	}
	// flat is 1 − t², the derivative of tanh at its value t.
	flat := func(t Op) Op {
		y := copyOf(one)
		VFNMADD231PS(t, t, y)
		return y
	}
	Label("loop")
	e, o, t, dc := load(others[2]), load(gates[2]), load(others[1]), load(others[3])
	slope := flat(t)
	VMULPS(o, slope, slope)
	VFMADD231PS(e, slope, dc) // with respect to c
	VMULPS(e, t, t)
	through(o, t)
	VMOVUPS(t, at(gates[2]))
	in, g := load(gates[0]), load(gates[3])
	slope = flat(g)
	VMULPS(dc, slope, slope)
	VMULPS(in, slope, slope)
	VMOVUPS(slope, at(gates[3]))
	VMULPS(dc, g, g)
	through(in, g)
	VMOVUPS(g, at(gates[0]))
	f, p := load(gates[1]), load(others[0])
	VMULPS(dc, p, p)
	VMULPS(f, dc, dc)
	VMOVUPS(dc, at(others[3]))
	through(f, p)
	VMOVUPS(p, at(gates[1]))
	ADDQ(U32(32), index)
	CMPQ(index, end)
	JL(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
