package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// fold writes dst = min(dst, src) for n a multiple of eight.
func fold() {
	TEXT("foldAVX2", NOSPLIT, "func(n int, dst, src *float32)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	Label("loop")
	SUBQ(U32(8), n)
	JL(LabelRef("done"))
	x := YMM()
	VMOVUPS(Mem{Base: src}, x)
	VMINPS(Mem{Base: dst}, x, x)
	VMOVUPS(x, Mem{Base: dst})
	ADDQ(U32(32), dst)
	ADDQ(U32(32), src)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// atMost writes a bit for each of 32·masks numbers: whether it is at most the
// limit.
func atMost() {
	TEXT("atMostAVX2", NOSPLIT, "func(masks int, row *float32, limit float32, dst *uint32)")
	Pragma("noescape")
	n := Load(Param("masks"), GP64())
	row := Load(Param("row"), GP64())
	dst := Load(Param("dst"), GP64())
	limit := YMM()
	broadcastParam("limit", limit)
	const notLess = 0x1d // ≥, false for NaN
	order := YMM()
	m := GLOBL("order", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(i%2*4+i/2))
	}
	VMOVUPS(m, order)
	Label("loop")
	DECQ(n)
	JL(LabelRef("done"))
	var x [4]Op
	for i := range x {
		x[i] = YMM()
		VCMPPS(U8(notLess), Mem{Base: row, Disp: 32 * i}, limit, x[i])
	}
	// A byte for each, in an order that order turns back.
	VPACKSSDW(x[1], x[0], x[0])
	VPACKSSDW(x[3], x[2], x[2])
	VPACKSSWB(x[2], x[0], x[0])
	VPERMD(x[0], order, x[0])
	mask := GP32()
	VPMOVMSKB(x[0], mask)
	MOVL(mask, Mem{Base: dst})
	ADDQ(U32(128), row)
	ADDQ(Imm(4), dst)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
