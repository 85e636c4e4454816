package main

import "fmt"

// Offsets of the fields of kernel.Tile, sixteen numbers each.
const (
	tileTau      = 0
	tileResidual = 64
	tileNorm     = 128
	tileScale    = 192
	tileBias     = 256
)

// scan writes the fused product and threshold of kernel.Geometry.Scan: for every
// panel of words (two registers wide) it multiplies all queries (rows) of the
// tile, and appends a hit for each query of which a word passes. The sums leave
// room for two registers of words and few temporaries.
func scan(m machine) {
	f := m.begin("scan", "panels int, groups int, words *byte, heads *float32, bounds *float32, queries *byte, "+
		"tile *float32, hits *uint32", "int")
	f.frame = 128
	rows := scanRows(m)
	width := 4 * m.lanes
	panels := f.value("panels")
	words := f.value("words")
	heads := f.value("heads")
	bounds := f.value("bounds")
	tile := f.value("tile")
	hits := f.value("hits")
	first := f.general()
	tag := f.general()
	local := f.general()
	f.do("MOVQ", hits, first)
	f.do("MOVQ", 0, tag)
	f.jumpZero(panels, "done")
	biases := at(tile, tileBias)
	if f.neon() {
		f.goes("MOVD $local-128(SP), %v", local)
		biases = at(local, 64)
		f.signedBiases(at(tile, tileBias), biases)
	} else {
		f.goes("LEAQ local-128(SP), %v", local)
	}

	f.label("panel")
	slack := f.slack(bounds, tile)
	for q := 0; q < rows; q += m.lanes {
		f.store(slack(q), at(local, 4*q))
	}
	acc := make([][2]reg, rows)
	for r := range acc {
		bias := f.fill(biases.offset(4 * r))
		acc[r] = [2]reg{bias, f.copy(bias)}
	}
	queries := f.value("queries")
	groups := f.value("groups")
	f.label("group")
	w := [2]reg{f.load(at(words, 0)), f.load(at(words, width))}
	if f.neon() { // takes signed bytes: words lowered by 128
		w = [2]reg{f.of(xor, w[0], f.constant(topBits)), f.of(xor, w[1], f.constant(topBits))}
	}
	f.do("ADDQ", 2*width, words)
	var q reg
	for r, sums := range acc {
		switch {
		case !f.neon():
			q = f.fill(at(queries, 4*r))
		case r%4 == 0:
			q = f.load(at(queries, 4*r))
		}
		f.dotBytes(q, r%4, w[0], sums[0])
		f.dotBytes(q, r%4, w[1], sums[1])
	}
	f.do("ADDQ", 64, queries)
	f.count(groups, 1, "group")

	passing := f.passing(heads)
	for r, sums := range acc {
		s := f.fill(at(local, 4*r))
		scale := f.fill(at(tile, tileScale+4*r))
		for j, x := range sums {
			sums[j] = f.horner(f.one(toFloat, x), scale, s)
		}
		next := fmt.Sprint("next", r)
		mask := passing(sums, next)
		query := f.general()
		f.do("MOVQ", r, query)
		f.do("MOVL", tag, at(hits, 0))
		f.do("MOVL", query, at(hits, 4))
		f.do("MOVL", mask, at(hits, 8))
		f.do("ADDQ", 12, hits)
		f.label(next)
	}
	f.do("ADDQ", 2*width, heads)
	f.do("ADDQ", 16, bounds)
	f.do("ADDQ", 1, tag)
	f.count(panels, 1, "panel")
	f.label("done")
	f.do("SUBQ", first, hits) // in bytes
	f.do("MOVQ", hits, f.argument("ret"))
	f.returns()
	f.end()
}

// scanRows is kernel.Geometry.TileRows.
func scanRows(m machine) int {
	switch m.lanes {
	case 16:
		return 14
	case 8:
		return 6
	default:
		return 12
	}
}

// slack returns that of queries from one on in a panel: a·τ + b·residual + c·norm + d.
func (f *function) slack(bounds, tile reg) func(q int) reg {
	var bound []reg
	for i := range 4 {
		bound = append(bound, f.fill(at(bounds, 4*i)))
	}
	return func(q int) reg {
		sum := f.copy(bound[3])
		for i, field := range []int{tileTau, tileResidual, tileNorm} {
			f.into(sum, fma, bound[i], at(tile, field+4*q))
		}
		return sum
	}
}

// topBits are those of four bytes.
const topBits = 0x80808080

// signedBiases raises biases by 128 times the sum of each query.
func (f *function) signedBiases(from, to mem) {
	queries := f.value("queries")
	groups := f.value("groups")
	sums := f.zeros(3)
	f.label("sums")
	for i, sum := range sums {
		f.word("sdot %v.4s, %v.16b, %v.16b", sum, f.load(at(queries, 16*i)), f.constant(topBits))
	}
	f.do("ADDQ", 64, queries)
	f.count(groups, 1, "sums")
	for i, sum := range sums {
		f.store(f.of(subInt, f.load(from.offset(16*i)), sum), to.offset(16*i))
	}
}

// dotBytes adds to every 32-bit lane of acc the sum of the lane's four products
// of a byte of words and a signed byte of q, of the i-th four on arm64. AVX2
// adds two products in 16 bits, which saturates unless words are below 128, and
// then two such sums.
func (f *function) dotBytes(q reg, i int, words, acc reg) {
	switch f.lanes {
	case 16:
		f.word("VPDPBUSD %v, %v, %v", q, words, acc)
	case 8:
		sums := f.vector()
		f.word("VPMADDUBSW %v, %v, %v", q, words, sums)
		f.word("VPMADDWD %v, %v, %v", f.constant(1<<16|1), sums, sums)
		f.into(acc, addInt, acc, sums)
	default:
		f.word("sdot %v.4s, %v.16b, %v.4b[%v]", acc, words, q, i)
	}
}

// passing returns a function for the bits of the words whose head is at most
// their number in sums, which jumps to none where there are none.
func (f *function) passing(heads reg) func(sums [2]reg, none string) reg {
	low := at(heads, 0)
	high := at(heads, 4*f.lanes)
	switch f.lanes {
	case 16:
		return func(sums [2]reg, none string) reg {
			k0 := f.register(masks)
			k1 := f.register(masks)
			mask := f.general()
			f.word("VCMPPS $0x0d, %v, %v, %v", low, sums[0], k0)
			f.word("VCMPPS $0x0d, %v, %v, %v", high, sums[1], k1)
			f.goes("KORTESTW %v, %v", k0, k1)
			f.branch("JEQ", none)
			f.goes("KUNPCKWD %v, %v, %v", k0, k1, k0)
			f.goes("KMOVD %v, %v", k0, mask)
			return mask
		}
	case 8:
		return func(sums [2]reg, none string) reg {
			mask := f.general()
			upper := f.general()
			f.word("VCMPPS $0x0d, %v, %v, %v", low, sums[0], sums[0])
			f.word("VCMPPS $0x0d, %v, %v, %v", high, sums[1], sums[1])
			f.word("VMOVMSKPS %v, %v", sums[0], mask)
			f.word("VMOVMSKPS %v, %v", sums[1], upper)
			f.goes("SHLL $8, %v", upper)
			f.goes("ORL %v, %v", upper, mask)
			f.branch("JEQ", none)
			return mask
		}
	}
	from := f.general()
	f.goes("MOVD $%v, %v", f.table("bits", powers(32)...), from)
	bits := [2]reg{f.load(at(from, 0)), f.load(at(from, 16))}
	head := [2]reg{f.load(low), f.load(high)}
	return func(sums [2]reg, none string) reg {
		var x [2]reg
		for j, sum := range sums {
			f.word("fcmge %v.4s, %v.4s, %v.4s", sum, sum, head[j])
			x[j] = f.of(and, sum, bits[j])
		}
		mask := f.general()
		f.across(f.of(or, x[0], x[1]), mask)
		f.branch("CBZ", none, mask)
		return mask
	}
}
