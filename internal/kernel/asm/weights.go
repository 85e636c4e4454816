package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// weightSum writes
//
//	func(n int, row, law *float32) float64
//
// for n a multiple of the lanes; see kernel.WeightSum. law holds offset, most,
// least and rate.
func weightSum(v vectors) {
	TEXT("weightSum"+v.name, NOSPLIT, "func(n int, row, law *float32) float64")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	row := Load(Param("row"), GP64())
	law := Load(Param("law"), GP64())
	var parts [4]Op // offset, most, least, rate
	for i := range parts {
		parts[i] = v.new()
		VBROADCASTSS(Mem{Base: law, Disp: 4 * i}, parts[i])
	}
	var acc [2]Op
	for i := range acc {
		acc[i] = v.new()
		zero(acc[i])
	}
	TESTQ(n, n)
	JZ(LabelRef("sum"))
	Label("loop")
	x, none := v.new(), v.new()
	VMOVUPS(Mem{Base: row}, x)
	const unequal = 12
	there, mask := v.new(), K() // x ≠ +Inf
	if v.lanes == 16 {
		VCMPPS(U8(unequal), v.bits(0x7f800000), x, mask)
	} else {
		VCMPPS(U8(unequal), v.bits(0x7f800000), x, there)
	}
	VADDPS(parts[0], x, x)
	zero(none)
	VMAXPS(none, x, x)
	VSQRTPS(x, x)
	VMINPS(parts[1], x, x)
	VSUBPS(x, parts[2], x)
	VMULPS(parts[3], x, x)
	e := expLane(v, x)
	if v.lanes == 16 {
		VMOVAPS_Z(e, mask, e)
	} else {
		VANDPS(there, e, e)
	}
	wide := v.new()
	low, high := v.halves(e)
	VCVTPS2PD(low, wide)
	VADDPD(wide, acc[0], acc[0])
	wide = v.new()
	VCVTPS2PD(high, wide)
	VADDPD(wide, acc[1], acc[1])
	ADDQ(U32(4*v.lanes), row)
	SUBQ(U32(v.lanes), n)
	JNZ(LabelRef("loop"))
	Label("sum")
	VADDPD(acc[1], acc[0], acc[0])
	Store(horizontalSum64(v, acc[0]), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// halves returns the lower and the upper lanes of a register.
func (v vectors) halves(x Op) (low, high Op) {
	if v.lanes == 16 {
		high = YMM()
		VEXTRACTF64X4(U8(1), x, high)
		return x.(reg.VecVirtual).AsY(), high
	}
	high = XMM()
	VEXTRACTF128(U8(1), x, high)
	return x.(reg.VecVirtual).AsX(), high
}
