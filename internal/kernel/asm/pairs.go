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
func distances(m machine)     { pairs(m, "distances", true) }
func innerProducts(m machine) { pairs(m, "innerProducts", false) }

func pairs(m machine, name string, distance bool) {
	f := m.begin(name, "panels int, depth int, words *float32, queries *float64, dst *float64, stride int", "")
	panels, words, dst := f.value("panels"), f.value("words"), f.value("dst")
	stride, size := f.value("stride"), f.value("depth") // in bytes, of a row and of a panel
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
	queries, depth := f.value("queries"), f.value("depth")
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
			if !distance {
				f.into(sum, fma64, x[i], q)
				continue
			}
			d := f.of(sub64, q, x[i])
			f.into(sum, add64, sum, f.of(mul64, d, d))
		}
	}
	f.do("ADDQ", 4*panelWords, from)
	f.count(depth, 1, "depth")
	row := f.general()
	f.do("MOVQ", dst, row)
	for _, sums := range acc {
		for i, sum := range sums {
			if distance {
				sum = f.one(sqrt64, sum)
			}
			f.store(sum, at(row, 4*m.lanes*i))
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
