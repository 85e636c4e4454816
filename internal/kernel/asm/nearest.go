package main

import "fmt"

// squaredDistance writes Σ(aᵢ−bᵢ)² in float64 for n a multiple of eight.
func squaredDistance(m machine) {
	f := m.begin("squaredDistance", "n int, a *float32, b *float32", "float64")
	n := f.value("n")
	a := f.value("a")
	b := f.value("b")
	sums := f.zeros(16 / m.lanes)
	f.jumpZero(n, "sum")
	f.label("loop")
	x := f.load64(at(a, 0), len(sums))
	y := f.load64(at(b, 0), len(sums))
	for i, sum := range sums {
		d := f.of(sub64, x[i], y[i])
		f.into(sum, fma64, d, d)
	}
	f.do("ADDQ", 32, a)
	f.do("ADDQ", 32, b)
	f.count(n, 8, "loop")
	f.label("sum")
	f.return64(sums...)
	f.end()
}

// fold writes dst = min(dst, src) for n a multiple of the register.
func fold(m machine) {
	f := m.begin("fold", "n int, dst *float32, src *float32", "")
	n := f.value("n")
	dst := f.value("dst")
	src := f.value("src")
	f.label("loop")
	f.do("SUBQ", m.lanes, n)
	f.jump("JLT", "done")
	f.store(f.of(least, f.load(at(src, 0)), at(dst, 0)), at(dst, 0))
	f.do("ADDQ", 4*m.lanes, dst)
	f.do("ADDQ", 4*m.lanes, src)
	f.jump("JMP", "loop")
	f.label("done")
	f.returns()
	f.end()
}

// atMost writes a bit for each of 32·masks numbers: whether it is at most the
// limit.
func atMost(m machine) {
	f := m.begin("atMost", "masks int, row *float32, limit *float32, dst *uint32", "")
	n := f.value("masks")
	row := f.value("row")
	dst := f.value("dst")
	limit := f.fill(at(f.value("limit"), 0))
	var bits []reg
	if f.neon() {
		from := f.general()
		f.goes("MOVD $%v, %v", f.table("bits", powers(32)...), from)
		for i := range 8 {
			bits = append(bits, f.load(at(from, 16*i)))
		}
	}
	f.label("loop")
	f.do("SUBQ", 1, n)
	f.jump("JLT", "done")
	mask := f.general()
	if f.neon() {
		var x []reg
		for i, b := range bits {
			y := f.load(at(row, 16*i))
			f.word("fcmge %v.4s, %v.4s, %v.4s", y, limit, y)
			x = append(x, f.of(and, y, b))
		}
		for ; len(x) > 1; x = x[2:] {
			x = append(x, f.of(or, x[0], x[1]))
		}
		f.across(x[0], mask)
	} else {
		var x [4]reg
		for i := range x { // ≥, false for NaN
			x[i] = f.vector()
			f.word("VCMPPS $0x1d, %v, %v, %v", at(row, 32*i), limit, x[i])
		}
		// A byte for each, in an order that VPERMD turns back.
		f.word("VPACKSSDW %v, %v, %v", x[1], x[0], x[0])
		f.word("VPACKSSDW %v, %v, %v", x[3], x[2], x[2])
		f.word("VPACKSSWB %v, %v, %v", x[2], x[0], x[0])
		f.word("VPERMD %v, %v, %v", x[0], f.load(f.table("order", 0, 4, 1, 5, 2, 6, 3, 7)), x[0])
		f.word("VPMOVMSKB %v, %v", x[0], mask)
	}
	f.do("MOVL", mask, at(dst, 0))
	f.do("ADDQ", 128, row)
	f.do("ADDQ", 4, dst)
	f.jump("JMP", "loop")
	f.label("done")
	f.returns()
	f.end()
}

// powers lists 1, 2, 4, ….
func powers(n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = 1 << i
	}
	return list
}

// across adds the four integers of a register of NEON.
func (f *function) across(x, sum reg) {
	f.word("addv %v, %v.4s", x.as("s"), x)
	f.word("fmov %v, %v", sum.as("w"), x.as("s"))
}

// distancesTo writes to dst the Euclidean distance between a query and each of
// 8·groups vectors, rows of a matrix of depth numbers by ids, in float64, each
// square rounded before it is added, in the order of the dimensions.
//
// Eight sums grow side by side. Squares are made a register of dimensions of a
// vector at a time, and those of as many vectors transposed before they are
// added.
func distancesTo(m machine) {
	f := m.begin("distancesTo",
		"groups int, depth int, query *float32, vectors *float32, ids *uint32, dst *float64", "")
	groups := f.value("groups")
	query := f.value("query")
	ids := f.value("ids")
	dst := f.value("dst")
	position := f.general()
	left := f.general()
	bases := make([]reg, 8)
	for i := range bases {
		bases[i] = f.general()
	}
	row := func(i int, to reg) {
		f.do("MOVLQZX", at(ids, 4*i), to)
		f.do("IMULQ", f.argument("depth"), to)
		f.do("SHLQ", 2, to)
		f.do("ADDQ", f.argument("vectors"), to)
	}
	f.label("group")
	f.do("SUBQ", 1, groups)
	f.jump("JLT", "done")
	if !f.neon() { // Vectors lie anywhere in memory: ask for the next eight now.
		f.branch("JEQ", "last")
		for i := range bases {
			next := f.general()
			line := fmt.Sprint("line", i)
			row(8+i, next)
			f.do("MOVQ", f.argument("depth"), left)
			f.label(line)
			f.goes("PREFETCHT0 -4(%v)(%v*4)", next, left)
			f.do("SUBQ", 16, left)
			f.branch("JGT", line)
			f.goes("PREFETCHT0 (%v)", next)
		}
		f.label("last")
	}
	for i, b := range bases {
		row(i, b)
	}
	lanes := m.lanes / 2
	sums := f.zeros(8 / lanes)
	f.do("MOVQ", 0, position)
	f.do("MOVQ", f.argument("depth"), left)
	f.label("several")
	f.do("SUBQ", lanes, left)
	f.jump("JLT", "rest")
	q := f.load64(mem{base: query, index: position}, 1)[0]
	for i, sum := range sums {
		var x []reg
		for _, b := range bases[lanes*i:][:lanes] {
			d := f.of(sub64, q, f.load64(mem{base: b, index: position}, 1)[0])
			x = append(x, f.of(mul64, d, d))
		}
		for _, squares := range f.transposed(x) {
			f.into(sum, add64, sum, squares)
		}
	}
	f.do("ADDQ", 4*lanes, position)
	f.jump("JMP", "several")

	f.label("rest")
	f.do("ADDQ", lanes, left)
	f.label("single")
	f.do("SUBQ", 1, left)
	f.jump("JLT", "store")
	q = f.together([]reg{query, query, query, query}[:lanes], position)
	for i, sum := range sums {
		d := f.of(sub64, q, f.together(bases[lanes*i:][:lanes], position))
		f.into(sum, add64, sum, f.of(mul64, d, d))
	}
	f.do("ADDQ", 4, position)
	f.jump("JMP", "single")

	f.label("store")
	for i, sum := range sums {
		f.store(f.one(sqrt64, sum), at(dst, 4*m.lanes*i))
	}
	f.do("ADDQ", 32, ids)
	f.do("ADDQ", 64, dst)
	f.jump("JMP", "group")
	f.label("done")
	f.returns()
	f.end()
}

// transposed is the transpose of a square of float64.
func (f *function) transposed(x []reg) []reg {
	even := f.of(evens64, x[0], x[1])
	odd := f.of(odds64, x[0], x[1])
	if f.neon() {
		return []reg{even, odd}
	}
	// These hold dimensions 0 and 2 of two vectors, those 1 and 3.
	even2 := f.of(evens64, x[2], x[3])
	odd2 := f.of(odds64, x[2], x[3])
	var y []reg
	for _, half := range []string{"0x20", "0x31"} {
		for _, pair := range [][2]reg{{even, even2}, {odd, odd2}} {
			y = append(y, f.vector())
			f.word("VPERM2F128 $"+half+", %v, %v, %v", pair[1], pair[0], y[len(y)-1])
		}
	}
	return y
}

// together reads a number of each of several vectors as float64.
func (f *function) together(bases []reg, position reg) reg {
	x := f.vector()
	if f.neon() {
		second := f.vector()
		f.word("ldr %v, %v", x.as("s"), mem{base: bases[0], index: position})
		f.word("ldr %v, %v", second.as("s"), mem{base: bases[1], index: position})
		f.word("zip1 %v.2s, %v.2s, %v.2s", x, x, second)
		f.word("fcvtl %v.2d, %v.2s", x, x)
		return x
	}
	narrow := x.as("X")
	f.word("VMOVSS %v, %v", mem{base: bases[0], index: position}, narrow)
	for i, b := range bases[1:] {
		f.word("VINSERTPS $%v, %v, %v, %v", (i+1)<<4, mem{base: b, index: position}, narrow, narrow)
	}
	f.word("VCVTPS2PD %v, %v", narrow, x)
	return x
}
