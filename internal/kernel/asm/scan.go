package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Rows (queries) of a tile by instruction set: as many accumulators as leave
// room for two panel registers and two temporaries.
const (
	scanRows512 = 14
	scanRows256 = 6
)

// Offsets of the fields of kernel.Tile, sixteen numbers each.
const (
	tileTau      = 0
	tileResidual = 64
	tileNorm     = 128
	tileScale    = 192
	tileBias     = 256
)

// scan writes the fused product and threshold of kernel.Geometry.Scan: for every
// panel of words (two registers wide) it multiplies all queries of the tile, and
// appends a hit for each query of which a word passes.
func scan(v vectors, rows int) {
	TEXT("scan"+v.name, NOSPLIT, "func(panels, groups int, words *byte, heads, bounds *float32, queries *byte, "+
		"tile *float32, hits *uint32) int")
	Pragma("noescape")
	panels := Load(Param("panels"), GP64())
	words := Load(Param("words"), GP64())
	heads := Load(Param("heads"), GP64())
	bounds := Load(Param("bounds"), GP64())
	tile := Load(Param("tile"), GP64())
	hits := Load(Param("hits"), GP64())
	first := GP64()
	MOVQ(hits, first)
	tag := GP64()
	XORQ(tag, tag)
	slack := AllocLocal(64)
	width := 4 * v.lanes

	TESTQ(panels, panels)
	JZ(LabelRef("done"))
	Label("panel")

	// The slack of every query in this panel: a·τ + b·residual + c·norm + d.
	sum, factor := v.new(), v.new()
	VBROADCASTSS(Mem{Base: bounds}, factor)
	VBROADCASTSS(Mem{Base: bounds, Disp: 12}, sum)
	VFMADD231PS(Mem{Base: tile, Disp: tileTau}, factor, sum)
	VBROADCASTSS(Mem{Base: bounds, Disp: 4}, factor)
	VFMADD231PS(Mem{Base: tile, Disp: tileResidual}, factor, sum)
	VBROADCASTSS(Mem{Base: bounds, Disp: 8}, factor)
	VFMADD231PS(Mem{Base: tile, Disp: tileNorm}, factor, sum)
	VMOVUPS(sum, slack)

	acc := make([][2]Op, rows)
	for r := range acc {
		acc[r] = [2]Op{v.new(), v.new()}
		VPBROADCASTD(Mem{Base: tile, Disp: tileBias + 4*r}, acc[r][0])
		VMOVAPS(acc[r][0], acc[r][1])
	}
	queries := Load(Param("queries"), GP64())
	groups := Load(Param("groups"), GP64())
	Label("group")
	w0, w1, q := v.new(), v.new(), v.new()
	VMOVUPS(Mem{Base: words}, w0)
	VMOVUPS(Mem{Base: words, Disp: width}, w1)
	ADDQ(U32(2*width), words)
	for r := range acc {
		VPBROADCASTD(Mem{Base: queries, Disp: 4 * r}, q)
		dotBytes(v, q, w0, acc[r][0])
		dotBytes(v, q, w1, acc[r][1])
	}
	ADDQ(Imm(64), queries)
	DECQ(groups)
	JNZ(LabelRef("group"))

	for r := range acc {
		next := LabelRef("next" + string(rune('a'+r)))
		s, scale := v.new(), v.new()
		VBROADCASTSS(slack.Offset(4*r), s)
		VBROADCASTSS(Mem{Base: tile, Disp: tileScale + 4*r}, scale)
		for j := range acc[r] {
			VCVTDQ2PS(acc[r][j], acc[r][j])
			VFMADD213PS(s, scale, acc[r][j])
		}
		// A word passes where its head is at most its product and slack.
		mask := GP32()
		if v.lanes == 16 {
			k0, k1 := K(), K()
			VCMPPS(U8(0x0d), Mem{Base: heads}, acc[r][0], k0)
			VCMPPS(U8(0x0d), Mem{Base: heads, Disp: width}, acc[r][1], k1)
			KORTESTW(k0, k1)
			JZ(next)
			KUNPCKWD(k0, k1, k0)
			KMOVD(k0, mask)
		} else {
			VCMPPS(U8(0x0d), Mem{Base: heads}, acc[r][0], acc[r][0])
			VCMPPS(U8(0x0d), Mem{Base: heads, Disp: width}, acc[r][1], acc[r][1])
			high := GP32()
			VMOVMSKPS(acc[r][0], mask)
			VMOVMSKPS(acc[r][1], high)
			SHLL(U8(8), high)
			ORL(high, mask)
			JZ(next)
		}
		MOVL(tag.As32(), Mem{Base: hits})
		MOVL(U32(r), Mem{Base: hits, Disp: 4})
		MOVL(mask, Mem{Base: hits, Disp: 8})
		ADDQ(Imm(12), hits)
		Label(string(next))
	}
	ADDQ(U32(2*width), heads)
	ADDQ(Imm(16), bounds)
	INCQ(tag)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	Label("done")
	SUBQ(first, hits)
	Store(hits, ReturnIndex(0)) // in bytes
	VZEROUPPER()
	RET()
}

// dotBytes adds to every 32-bit lane of acc the sum of the lane's four products
// of an unsigned byte of words and a signed byte of q. AVX2 adds two products in
// 16 bits, which saturates unless words are below 128, and then two such sums.
func dotBytes(v vectors, q, words, acc Op) {
	if v.lanes == 16 {
		VPDPBUSD(q, words, acc)
		return
	}
	sums := v.new()
	VPMADDUBSW(q, words, sums)
	VPMADDWD(bits(1<<16|1), sums, sums)
	VPADDD(sums, acc, acc)
}
