package main

// weightSum writes kernel.WeightSum for n a multiple of the register; law holds
// offset, most, least and rate.
func weightSum(m machine) {
	f := m.begin("weightSum", "n int, row *float32, law *float32", "float64")
	n := f.value("n")
	row := f.value("row")
	law := f.value("law")
	offset := f.fill(at(law, 0))
	longest := f.fill(at(law, 4))
	shortest := f.fill(at(law, 8))
	rate := f.fill(at(law, 12))
	sums := f.zeros(2)
	f.jumpZero(n, "sum")
	f.label("loop")
	x := f.load(at(row, 0))
	there := f.finite(x)
	d := f.one(sqrt, f.of(most, f.of(add, x, offset), f.zero()))
	d = f.of(least, d, longest)
	e := f.exp(f.of(least, f.all(89), f.of(mul, f.of(sub, shortest, d), rate)))
	for i, wide := range f.widened(there(e)) {
		f.into(sums[i], add64, sums[i], wide)
	}
	f.do("ADDQ", 4*m.lanes, row)
	f.count(n, m.lanes, "loop")
	f.label("sum")
	f.return64(sums...)
	f.end()
}

// finite returns a function that puts 0 where x is +Inf.
func (f *function) finite(x reg) func(reg) reg {
	infinity := f.constant(0x7f800000)
	there := f.vector()
	if f.neon() {
		f.word("fcmeq %v.4s, %v.4s, %v.4s", there, x, infinity)
		return func(e reg) reg { return f.without(there, e) }
	}
	if f.lanes == 16 {
		there = f.register(masks)
	}
	f.word("VCMPPS $12, %v, %v, %v", infinity, x, there) // unequal
	return func(e reg) reg {
		if f.lanes == 8 {
			return f.of(and, there, e)
		}
		f.word("VMOVAPS.Z %v, %v, %v", e, there, e)
		return e
	}
}
