package main

// cells are the loops of an LSTM cell function over rows of h numbers, on
// arm64 a multiple of four. Of gates and of the row of words in table, gate k is
// 4k·h bytes from the first; lanes does one register of numbers, on amd64 in the
// last of a row perhaps only some. The table is larger than the second cache and
// read in no order: the row after this one is fetched ahead there. Of a negative
// word ^w, fresh is all ones.
type cells struct {
	*function
	fresh   reg
	strides [4]reg // of gates, in bytes
}

// cells writes the loops, and in them what lanes writes of the word's row of the
// table, of the gates and of the other arrays.
func (m machine) cells(name, table string, arrays []string, lanes func(c cells, word, gates reg, arrays []reg)) {
	params := "rows int, h int, words *int32, " + table + " *float32, gates *float32"
	for _, a := range arrays {
		params += ", " + a + " *float32"
	}
	f := m.begin(name, params, "")
	c := cells{function: f, fresh: f.vector()}
	rows := f.value("rows")
	words := f.value("words")
	h := f.value("h")
	f.do("SHLQ", 2, h)
	for k := 1; k < 4; k++ {
		c.strides[k] = h
		if k > 1 {
			c.strides[k] = f.general()
			f.do("MOVQ", c.strides[k-1], c.strides[k])
			f.do("ADDQ", h, c.strides[k])
		}
	}
	gates := f.value("gates")
	var others []reg
	for _, name := range arrays {
		others = append(others, f.value(name))
	}
	row := f.general()
	ahead := f.general()
	left := f.general()
	all := append([]reg{row, gates}, others...)
	size := 4 * m.lanes
	var mask reg
	if !f.neon() {
		all = append(all, ahead)
		mask = f.lastLanes(h)
	}

	f.label("row")
	c.address(at(words, 0), row, table)
	if !f.neon() {
		f.do("MOVQ", row, ahead)
		f.goes("CMPQ %v, $1", rows)
		f.branch("JEQ", "last")
		c.address(at(words, 4), ahead, table)
		f.label("last")
	}
	f.do("MOVQ", h, left)
	f.do("SUBQ", size, left)
	f.jump("JLT", "rest")
	f.label("loop")
	for k := range 4 {
		if !f.neon() {
			f.goes("PREFETCHT0 %v", c.gate(ahead, k))
		}
	}
	lanes(c, row, gates, others)
	for _, x := range all {
		f.do("ADDQ", size, x)
	}
	f.do("SUBQ", size, left)
	f.jump("JGE", "loop")
	f.label("rest")
	if !f.neon() {
		f.do("ADDQ", size, left)
		f.branch("JEQ", "next")
		f.mask = mask
		lanes(c, row, gates, others)
		f.mask = reg{}
		for _, x := range all {
			f.do("ADDQ", left, x)
		}
		f.label("next")
	}
	f.do("ADDQ", c.strides[3], gates)
	f.do("ADDQ", 4, words)
	f.count(rows, 1, "row")
	f.returns()
	f.end()
}

// address sets row to that of a word, and fresh where it is the current one.
func (c cells) address(word mem, row reg, table string) {
	sign := c.general()
	c.do("MOVLQSX", word, row)
	c.do("MOVQ", row, sign)
	c.do("SARQ", 63, sign)
	c.do("XORQ", sign, row)
	if c.neon() {
		c.word("dup %v.2d, %v", c.fresh, sign)
	} else if word.disp == 0 {
		c.goes("VMOVQ %v, %v", sign, c.fresh.as("X"))
		c.goes("VPBROADCASTD %v, %v", c.fresh.as("X"), c.fresh)
	}
	c.do("IMULQ", c.strides[1], row)
	c.do("SHLQ", 2, row)
	c.do("ADDQ", c.argument(table), row)
}

// lastLanes makes the mask of the numbers that do not fill a register, of h bytes.
func (f *function) lastLanes(h reg) reg {
	rest := f.general()
	f.do("MOVQ", h, rest)
	f.goes("ANDQ $%v, %v", 4*f.lanes-1, rest)
	if f.lanes == 16 {
		ones := f.general()
		k := f.register(masks)
		f.goes("SHRQ $2, %v", rest)
		f.goes("MOVL $0xffff, %v", ones)
		f.goes("BZHIL %v, %v, %v", rest, ones, ones)
		f.goes("KMOVW %v, %v", ones, k)
		return k
	}
	ones := make([]uint32, 16)
	for i := range 8 {
		ones[i] = 0xffffffff
	}
	from := f.general()
	f.goes("LEAQ %v, %v", f.table("lastLanes", ones...), from)
	f.do("SUBQ", rest, from)
	return f.load(at(from, 32))
}

// gate is the address of the numbers of gate k.
func (c cells) gate(of reg, k int) mem { return mem{base: of, index: c.strides[k]} }

// cellForward adds to the gates those of the row's word, writes i, f, o = σ and
// g = tanh in place, c = f∘prev + i∘g, tanh c and the hidden state o∘tanh c.
func cellForward(m machine) {
	m.cells("cellForward", "input", []string{"prev", "cell", "tanh", "hidden"},
		func(c cells, input, gates reg, to []reg) {
			activated := func(gate int, lane func(*function, reg) reg) reg {
				x := c.load(c.gate(gates, gate))
				y := lane(c.function, c.of(add, x, c.load(c.gate(input, gate))))
				c.store(y, c.gate(gates, gate))
				return y
			}
			forget := activated(1, (*function).sigmoid)
			sum := c.of(mul, forget, c.load(at(to[0], 0)))
			in := activated(0, (*function).sigmoid)
			g := activated(3, (*function).tanh)
			c.into(sum, fma, g, in)
			c.store(sum, at(to[1], 0))
			t := c.tanh(sum)
			c.store(t, at(to[2], 0))
			o := activated(2, (*function).sigmoid)
			c.store(c.of(mul, t, o), at(to[3], 0))
		})
}

// cellBackward is the derivative of cellForward: the gates become the
// derivatives with respect to their values before activation, which are added
// to the row of the word (become that of a fresh one), and dc that with respect
// to prev; dh is that with respect to the hidden state.
func cellBackward(m machine) {
	m.cells("cellBackward", "sum", []string{"prev", "tanh", "dh", "dc"}, func(c cells, sum, gates reg, from []reg) {
		// through multiplies d by the derivative of σ at its value s: s(1 − s).
		through := func(s, d reg) reg {
			rest := c.of(sub, c.all(1), s)
			return c.of(mul, c.of(mul, d, s), rest)
		}
		// flat is 1 − t², the derivative of tanh at its value t.
		flat := func(t reg) reg {
			y := c.copy(c.all(1))
			c.into(y, fnma, t, t)
			return y
		}
		store := func(d reg, gate int) {
			c.store(d, c.gate(gates, gate))
			before := c.without(c.fresh, c.load(c.gate(sum, gate)))
			c.store(c.of(add, d, before), c.gate(sum, gate))
		}
		e := c.load(at(from[2], 0))
		o := c.load(c.gate(gates, 2))
		t := c.load(at(from[1], 0))
		dc := c.load(at(from[3], 0))
		c.into(dc, fma, c.of(mul, flat(t), o), e) // with respect to c
		store(through(o, c.of(mul, t, e)), 2)
		in := c.load(c.gate(gates, 0))
		g := c.load(c.gate(gates, 3))
		store(c.of(mul, c.of(mul, flat(g), dc), in), 3)
		store(through(in, c.of(mul, g, dc)), 0)
		forget := c.load(c.gate(gates, 1))
		p := c.load(at(from[0], 0))
		d := c.of(mul, p, dc)
		c.store(c.of(mul, dc, forget), at(from[3], 0))
		store(through(forget, d), 1)
	})
}
