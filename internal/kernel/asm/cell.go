package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// cells writes the loops of an LSTM cell function over rows of h numbers. Of
// gates and of the row of words in table, gate k is 4k·h bytes from the first;
// lanes does one register of numbers, in the last of a row perhaps only some.
// The table is larger than the second cache and read in no order: the row after
// this one is fetched ahead. Of a negative word ^w, fresh is all ones.
type cells struct {
	vectors
	fresh  Op
	h, h3  reg.GPVirtual // h and 3h in bytes
	mask   Op            // of the numbers in the last register
	masked bool
}

func (c *cells) write(table string, arrays []string, lanes func(table, gates reg.Register, arrays []reg.Register)) {
	rows, words := GP64(), GP64()
	Load(Param("rows"), rows)
	Load(Param("words"), words)
	c.h, c.h3 = GP64(), GP64()
	Load(Param("h"), c.h)
	SHLQ(U8(2), c.h)
	LEAQ(Mem{Base: c.h, Index: c.h, Scale: 2}, c.h3)
	gates := Load(Param("gates"), GP64())
	var others, all []reg.Register
	for _, name := range arrays {
		others = append(others, Load(Param(name), GP64()))
	}
	row, ahead, count, rest := GP64(), GP64(), GP64(), GP64()
	all = append(others, row, ahead, gates)
	address := func(of Mem, row reg.GPVirtual) {
		sign := GP64()
		MOVLQSX(of, row)
		MOVQ(row, sign)
		SARQ(U8(63), sign)
		XORQ(sign, row)
		if c.fresh != nil && row != ahead {
			low := c.fresh.(reg.VecVirtual).AsX()
			VMOVQ(sign, low)
			VPBROADCASTD(low, c.fresh)
		}
		IMULQ(c.h, row)
		SHLQ(U8(2), row)
		ADDQ(paramAddress(table), row)
	}
	c.maskOf(rest)

	Label("row")
	address(Mem{Base: words}, row)
	MOVQ(row, ahead)
	CMPQ(rows, U32(1))
	JE(LabelRef("last"))
	address(Mem{Base: words, Disp: 4}, ahead)
	Label("last")
	MOVQ(c.h, count)
	SUBQ(U32(4*c.lanes), count)
	JL(LabelRef("rest"))
	Label("loop")
	c.masked = false
	for gate := range 4 {
		PREFETCHT0(c.gate(ahead, gate))
	}
	lanes(row, gates, others)
	for _, x := range all {
		ADDQ(U32(4*c.lanes), x)
	}
	SUBQ(U32(4*c.lanes), count)
	JGE(LabelRef("loop"))
	Label("rest")
	ADDQ(U32(4*c.lanes), count)
	JZ(LabelRef("next"))
	c.masked = true
	lanes(row, gates, others)
	for _, x := range all {
		ADDQ(count, x)
	}
	Label("next")
	ADDQ(c.h3, gates)
	ADDQ(U32(4), words)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// maskOf makes the mask of the h mod lanes numbers that do not fill a register.
func (c *cells) maskOf(rest reg.GPVirtual) {
	MOVQ(c.h, rest)
	ANDQ(U32(4*c.lanes-1), rest)
	if c.lanes == 16 {
		SHRQ(U8(2), rest)
		ones, k := GP32(), K()
		MOVL(U32(0xffff), ones)
		BZHIL(rest.As32(), ones, ones)
		KMOVW(ones, k)
		c.mask = k
		return
	}
	const name = "lastLanes"
	table, ok := constantPool[name]
	if !ok {
		table = GLOBL(name, RODATA|NOPTR)
		for i := range 16 {
			DATA(4*i, U32(uint32(int32(i-8)>>31)))
		}
		constantPool[name] = table
	}
	at, mask := GP64(), YMM()
	LEAQ(table, at)
	SUBQ(rest, at)
	VMOVUPS(Mem{Base: at, Disp: 32}, mask)
	c.mask = mask
}

func (c *cells) load(from Mem) Op {
	x := c.new()
	switch {
	case !c.masked:
		VMOVUPS(from, x)
	case c.lanes == 16:
		VMOVUPS_Z(from, c.mask, x)
	default:
		VMASKMOVPS(from, c.mask, x)
	}
	return x
}

func (c *cells) store(x Op, to Mem) {
	switch {
	case !c.masked:
		VMOVUPS(x, to)
	case c.lanes == 16:
		VMOVUPS(x, c.mask, to)
	default:
		VMASKMOVPS(x, c.mask, to)
	}
}

// gate is the address of the numbers of gate k.
func (c *cells) gate(of reg.Register, k int) Mem {
	switch m := (Mem{Base: of}); k {
	case 1, 2:
		return m.Idx(c.h, uint8(k))
	case 3:
		return m.Idx(c.h3, 1)
	default:
		return m
	}
}

// cellForward adds to the gates those of the row's word, writes i, f, o = σ and
// g = tanh in place, c = f∘prev + i∘g, tanh c and the hidden state o∘tanh c.
func cellForward(v vectors) {
	TEXT("cellForward"+v.name, NOSPLIT,
		"func(rows, h int, words *int32, input, gates, prev, cell, tanh, hidden *float32)")
	Pragma("noescape")
	c := cells{vectors: v}
	c.write("input", []string{"prev", "cell", "tanh", "hidden"}, func(input, gates reg.Register, to []reg.Register) {
		activated := func(gate int, lane func(vectors, Op) Op) Op {
			x := c.load(c.gate(gates, gate))
			VADDPS(c.load(c.gate(input, gate)), x, x)
			y := lane(v, x)
			c.store(y, c.gate(gates, gate))
			return y
		}
		sum := activated(1, vectors.sigmoidLane)
		VMULPS(c.load(Mem{Base: to[0]}), sum, sum)
		in := activated(0, vectors.sigmoidLane)
		g := activated(3, vectors.tanhLane)
		VFMADD231PS(in, g, sum)
		c.store(sum, Mem{Base: to[1]})
		t := v.tanhLane(sum)
		c.store(t, Mem{Base: to[2]})
		o := activated(2, vectors.sigmoidLane)
		VMULPS(o, t, t)
		c.store(t, Mem{Base: to[3]})
	})
}

// cellBackward is the derivative of cellForward: the gates become the
// derivatives with respect to their values before activation, which are added
// to the row of the word (become that of a fresh one), and dc that with respect
// to prev; dh is that with respect to the hidden state.
func cellBackward(v vectors) {
	TEXT("cellBackward"+v.name, NOSPLIT,
		"func(rows, h int, words *int32, sum, gates, prev, tanh, dh, dc *float32)")
	Pragma("noescape")
	c := cells{vectors: v, fresh: v.new()}
	one := v.new()
	VMOVUPS(constant(1), one)
	// through multiplies d by the derivative of σ at its value s: s(1 − s).
	through := func(s, d Op) {
		VMULPS(s, d, d)
		rest := v.new()
		VSUBPS(s, one, rest)
		VMULPS(rest, d, d)
	}
	// flat is 1 − t², the derivative of tanh at its value t.
	flat := func(t Op) Op {
		y := v.copy(one)
		VFNMADD231PS(t, t, y)
		return y
	}
	c.write("sum", []string{"prev", "tanh", "dh", "dc"}, func(sum, gates reg.Register, from []reg.Register) {
		store := func(d Op, gate int) {
			c.store(d, c.gate(gates, gate))
			before := c.load(c.gate(sum, gate))
			VANDNPS(before, c.fresh, before)
			VADDPS(before, d, d)
			c.store(d, c.gate(sum, gate))
		}
		e, o := c.load(Mem{Base: from[2]}), c.load(c.gate(gates, 2))
		t, dc := c.load(Mem{Base: from[1]}), c.load(Mem{Base: from[3]})
		slope := flat(t)
		VMULPS(o, slope, slope)
		VFMADD231PS(e, slope, dc) // with respect to c
		VMULPS(e, t, t)
		through(o, t)
		store(t, 2)
		in, g := c.load(c.gate(gates, 0)), c.load(c.gate(gates, 3))
		slope = flat(g)
		VMULPS(dc, slope, slope)
		VMULPS(in, slope, slope)
		store(slope, 3)
		VMULPS(dc, g, g)
		through(in, g)
		store(g, 0)
		f, p := c.load(c.gate(gates, 1)), c.load(Mem{Base: from[0]})
		VMULPS(dc, p, p)
		VMULPS(f, dc, dc)
		c.store(dc, Mem{Base: from[3]})
		through(f, p)
		store(p, 1)
	})
}
