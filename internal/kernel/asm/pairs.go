package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Shape of kernel.Panels; see there.
const (
	panelWords = 32
	pairRows   = 4
)

// pairs writes
//
//	func(panels, depth int, words *float32, queries *float64, dst *float64, stride int)
//
// which combines four queries (interleaved, depth × 4) with all words in
// float64, lane by lane in the order of the dimensions: Euclidean distances,
// multiplied and added separately because the specification rounds twice, or
// inner products, where fusing changes nothing because the product of two
// float32 is exact. Row r of dst starts at r·stride numbers.
func pairs(v vectors, distance bool) {
	name := "innerProducts"
	if distance {
		name = "distances"
	}
	TEXT(name+v.name, NOSPLIT, "func(panels, depth int, words *float32, queries *float64, dst *float64, stride int)")
	Pragma("noescape")
	panels := Load(Param("panels"), GP64())
	words := Load(Param("words"), GP64())
	dst := Load(Param("dst"), GP64())
	stride := Load(Param("stride"), GP64())
	SHLQ(U8(3), stride)
	size := Load(Param("depth"), GP64()) // bytes of a panel
	SHLQ(U8(7), size)

	doubles := v.lanes / 2
	registers := 4 // word registers of a pass
	if v.lanes == 8 {
		registers = 2
	}
	pass := registers * doubles

	TESTQ(panels, panels)
	JZ(LabelRef("done"))
	Label("panel")
	passes := GP64()
	MOVQ(U32(panelWords/pass), passes)
	Label("pass")
	acc := make([][]Op, pairRows)
	for r := range acc {
		for range registers {
			a := v.new()
			zero(a)
			acc[r] = append(acc[r], a)
		}
	}
	at := GP64()
	MOVQ(words, at)
	queries := Load(Param("queries"), GP64())
	depth := Load(Param("depth"), GP64())
	Label("depth")
	x := make([]Op, registers)
	for i := range x {
		x[i] = v.new()
		VCVTPS2PD(Mem{Base: at, Disp: 4 * doubles * i}, x[i])
	}
	for r := range acc {
		q := v.new()
		VBROADCASTSD(Mem{Base: queries, Disp: 8 * r}, q)
		for i := range x {
			if !distance {
				VFMADD231PD(q, x[i], acc[r][i])
				continue
			}
			d := v.new()
			VSUBPD(x[i], q, d)
			VMULPD(d, d, d)
			VADDPD(d, acc[r][i], acc[r][i])
		}
	}
	ADDQ(U32(4*panelWords), at)
	ADDQ(U32(8*pairRows), queries)
	DECQ(depth)
	JNZ(LabelRef("depth"))
	row := GP64()
	MOVQ(dst, row)
	for r := range acc {
		for i, a := range acc[r] {
			if distance {
				VSQRTPD(a, a)
			}
			VMOVUPD(a, Mem{Base: row, Disp: 8 * doubles * i})
		}
		if r+1 < len(acc) {
			ADDQ(stride, row)
		}
	}
	ADDQ(U32(4*pass), words)
	ADDQ(U32(8*pass), dst)
	DECQ(passes)
	JNZ(LabelRef("pass"))
	SUBQ(U32(4*panelWords), words)
	ADDQ(size, words)
	DECQ(panels)
	JNZ(LabelRef("panel"))
	Label("done")
	VZEROUPPER()
	RET()
}
