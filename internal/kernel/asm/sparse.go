package main

// sparseStrip adds to eight sums in float64 as many products of a step, of so
// many steps: numbers times those of from that columns say, each rounded before
// it is added.
func sparseStrip(m machine) {
	f := m.begin("sparseStrip", "steps int, columns *int32, data *float32, from *float64, sums *float64", "")
	steps := f.value("steps")
	columns := f.value("columns")
	data := f.value("data")
	from := f.value("from")
	to := f.value("sums")
	var sums []reg
	for i := range 16 / m.lanes {
		sums = append(sums, f.load(at(to, 4*m.lanes*i)))
	}
	ones := f.ones()
	f.label("loop")
	numbers := f.load64(at(data, 0), len(sums))
	for i, sum := range sums {
		others := f.gathered(from, at(columns, 2*m.lanes*i), ones)
		f.into(sum, add64, sum, f.of(mul64, numbers[i], others))
	}
	f.do("ADDQ", 32, columns)
	f.do("ADDQ", 32, data)
	f.count(steps, 1, "loop")
	for i, sum := range sums {
		f.store(sum, at(to, 4*m.lanes*i))
	}
	f.returns()
	f.end()
}

// ones is a mask of AVX-512 that a gather may be given a copy of: it clears its own, and
// one that were set in place would wait for the gather before.
func (f *function) ones() reg {
	ones := f.register(masks)
	if f.lanes == 16 {
		f.word("KXNORW %[1]v, %[1]v, %[1]v", ones)
	}
	return ones
}

// gathered is a register of float64 of from by 32-bit indices.
func (f *function) gathered(from reg, indices mem, ones reg) reg {
	x := f.zero() // else it waits for what the register held before
	index := f.vector()
	mask := f.vector()
	format := "VGATHERDPD %[3]v, (%[1]v)(%[2]v*8), %[4]v"
	if f.lanes == 16 {
		mask = f.register(masks)
		format = "VGATHERDPD (%[1]v)(%[2]v*8), %[3]v, %[4]v"
		index = index.as("Y")
		f.word("VMOVDQU %v, %v", indices, index)
		f.word("KMOVW %v, %v", ones, mask)
	} else {
		index = index.as("X")
		f.word("VMOVDQU %v, %v", indices, index)
		f.word("VPCMPEQD %[1]v, %[1]v, %[1]v", mask)
	}
	f.word(format, from, index, mask, x)
	return x
}
