package main

// Shape of kernel.Panels; see there.
const (
	panelWords = 32
	pairRows   = 4
)

// distances and innerProducts combine four queries (interleaved, depth × 4)
// with all words in float64, lane by lane in the order of the dimensions:
// Euclidean distances, multiplied and added separately because the
// specification rounds twice, or inner products, where fusing changes nothing
// because the product of two float32 is exact. Row r of dst starts at r·stride
// numbers.
func distances(m machine) {
	comparison{
		name: "distances",
		add: func(f *function, sum, word, query reg) {
			d := f.of(sub64, query, word)
			f.into(sum, add64, sum, f.of(mul64, d, d))
		},
		result: func(f *function, sum reg) reg { return f.one(sqrt64, sum) },
	}.write(m)
}

func innerProducts(m machine) {
	comparison{
		name:   "innerProducts",
		add:    func(f *function, sum, word, query reg) { f.into(sum, fma64, word, query) },
		result: func(_ *function, sum reg) reg { return sum },
	}.write(m)
}

// A comparison adds a number of words and one of a query to their sums, and makes the result of a sum.
type comparison struct {
	name   string
	add    func(f *function, sum, word, query reg)
	result func(f *function, sum reg) reg
}

// write writes the loops of a comparison: over panels, parts of a panel that fit the registers, and dimensions.
func (c comparison) write(m machine) {
	f := m.begin(c.name, "panels int, depth int, words *float32, queries *float64, dst *float64, stride int", "")
	panels := f.value("panels")
	words := f.value("words")
	dst := f.value("dst")
	stride := f.value("stride") // in bytes, of a row
	size := f.value("depth")    // in bytes, of a panel
	f.do("SHLQ", 3, stride)
	f.do("SHLQ", 7, size)
	registers := 4 // of words a pass
	if m.lanes == 8 {
		registers = 2
	}
	pass := registers * m.lanes / 2
	f.jumpZero(panels, "done")
	f.label("panel")
	passes := f.general()
	f.do("MOVQ", panelWords/pass, passes)
	f.label("pass")
	acc := make([][]reg, pairRows)
	for r := range acc {
		acc[r] = f.zeros(registers)
	}
	from := f.general()
	f.do("MOVQ", words, from)
	queries := f.value("queries")
	depth := f.value("depth")
	f.label("depth")
	x := f.load64(at(from, 0), registers)
	for _, sums := range acc {
		q := f.vector()
		if f.neon() {
			f.word("ld1r {%v.2d}, [%v], #8", q, queries)
		} else {
			f.word("VBROADCASTSD (%v), %v", queries, q)
			f.do("ADDQ", 8, queries)
		}
		for i, sum := range sums {
			c.add(f, sum, x[i], q)
		}
	}
	f.do("ADDQ", 4*panelWords, from)
	f.count(depth, 1, "depth")
	row := f.general()
	f.do("MOVQ", dst, row)
	for _, sums := range acc {
		for i, sum := range sums {
			f.store(c.result(f, sum), at(row, 4*m.lanes*i))
		}
		f.do("ADDQ", stride, row)
	}
	f.do("ADDQ", 4*pass, words)
	f.do("ADDQ", 8*pass, dst)
	f.count(passes, 1, "pass")
	f.do("SUBQ", 4*panelWords, words)
	f.do("ADDQ", size, words)
	f.count(panels, 1, "panel")
	f.label("done")
	f.returns()
	f.end()
}
