package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
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

// distancesTo writes to dst the Euclidean distance between a query and each of
// 8·groups vectors, rows of a matrix of depth numbers by ids, in float64, each
// square rounded before it is added, in the order of the dimensions.
//
// Eight sums grow side by side, four to a register. Squares are made four
// dimensions of a vector at a time, and the four registers of four vectors
// transposed before they are added.
func distancesTo() {
	TEXT("distancesToAVX2", NOSPLIT,
		"func(groups, depth int, query, vectors *float32, ids *uint32, dst *float64)")
	Pragma("noescape")
	groups := Load(Param("groups"), GP64())
	query := Load(Param("query"), GP64())
	ids := Load(Param("ids"), GP64())
	dst := Load(Param("dst"), GP64())
	depth, vectors := paramAddress("depth"), paramAddress("vectors")
	at := GP64()
	var base [8]reg.GPVirtual
	for i := range base {
		base[i] = GP64()
	}
	row := func(i int, to reg.GPVirtual) {
		MOVL(Mem{Base: ids, Disp: 4 * i}, to.As32())
		IMULQ(depth, to)
		SHLQ(U8(2), to)
		ADDQ(vectors, to)
	}
	Label("group")
	DECQ(groups)
	JL(LabelRef("done"))
	JZ(LabelRef("last"))
	// Vectors lie anywhere in memory: ask for the next eight now.
	for i := range base {
		next, line := GP64(), fmt.Sprintf("line%d", i)
		row(8+i, next)
		MOVQ(depth, at)
		Label(line)
		PREFETCHT0(Mem{Base: next, Index: at, Scale: 4, Disp: -4})
		SUBQ(U8(16), at)
		JG(LabelRef(line))
		PREFETCHT0(Mem{Base: next})
	}
	Label("last")
	for i, b := range base {
		row(i, b)
	}
	var sums [2]Op
	for i := range sums {
		sums[i] = YMM()
		zero(sums[i])
	}
	XORQ(at, at)
	Label("four")
	ADDQ(Imm(4), at)
	CMPQ(at, depth)
	JG(LabelRef("rest"))
	q := YMM()
	VCVTPS2PD(Mem{Base: query, Index: at, Scale: 4, Disp: -16}, q)
	for i := range sums {
		var x [4]Op
		for j := range x {
			x[j] = YMM()
			VCVTPS2PD(Mem{Base: base[4*i+j], Index: at, Scale: 4, Disp: -16}, x[j])
			VSUBPD(x[j], q, x[j])
			VMULPD(x[j], x[j], x[j])
		}
		// even holds dimensions 0 and 2 of two vectors, odd 1 and 3.
		var even, odd [2]Op
		for j := range even {
			even[j], odd[j] = YMM(), YMM()
			VUNPCKLPD(x[2*j+1], x[2*j], even[j])
			VUNPCKHPD(x[2*j+1], x[2*j], odd[j])
		}
		for k := range 4 {
			from := [2][2]Op{even, odd}[k%2]
			t := YMM()
			VPERM2F128(U8([2]uint8{0x20, 0x31}[k/2]), from[1], from[0], t)
			VADDPD(t, sums[i], sums[i])
		}
	}
	JMP(LabelRef("four"))

	Label("rest")
	SUBQ(Imm(4), at)
	Label("one")
	CMPQ(at, depth)
	JGE(LabelRef("store"))
	narrow := XMM()
	VBROADCASTSS(Mem{Base: query, Index: at, Scale: 4}, narrow)
	q = YMM()
	VCVTPS2PD(narrow, q)
	for i := range sums {
		narrow, x := XMM(), YMM()
		VMOVSS(Mem{Base: base[4*i], Index: at, Scale: 4}, narrow)
		for j := 1; j < 4; j++ {
			VINSERTPS(U8(j<<4), Mem{Base: base[4*i+j], Index: at, Scale: 4}, narrow, narrow)
		}
		VCVTPS2PD(narrow, x)
		VSUBPD(x, q, x)
		VMULPD(x, x, x)
		VADDPD(x, sums[i], sums[i])
	}
	INCQ(at)
	JMP(LabelRef("one"))

	Label("store")
	for i := range sums {
		VSQRTPD(sums[i], sums[i])
		VMOVUPD(sums[i], Mem{Base: dst, Disp: 32 * i})
	}
	ADDQ(Imm(32), ids)
	ADDQ(Imm(64), dst)
	JMP(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}
