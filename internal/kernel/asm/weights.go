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
// for n a multiple of eight; see kernel.WeightSum. law holds offset, most,
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
	var there Op = YMM() // x ≠ +Inf
	if v.lanes == 16 {
		there = K()
	}
	VCMPPS(U8(unequal), bits(0x7f800000), x, there)
	VADDPS(parts[0], x, x)
	zero(none)
	VMAXPS(none, x, x)
	VSQRTPS(x, x)
	VMINPS(parts[1], x, x)
	VSUBPS(x, parts[2], x)
	VMULPS(parts[3], x, x)
	c := v.new()
	VMOVUPS(constant(89), c)
	VMINPS(x, c, x)
	e := v.expLane(x)
	if v.lanes == 16 {
		VMOVAPS_Z(e, there, e)
	} else {
		VANDPS(there, e, e)
	}
	for i, half := range v.halves(e) {
		wide := v.new()
		VCVTPS2PD(half, wide)
		VADDPD(wide, acc[i], acc[i])
	}
	ADDQ(U32(4*v.lanes), row)
	SUBQ(U32(v.lanes), n)
	JNZ(LabelRef("loop"))
	Label("sum")
	VADDPD(acc[1], acc[0], acc[0])
	sum := acc[0].(reg.VecVirtual).AsY()
	if v.lanes == 16 {
		high := YMM()
		VEXTRACTF64X4(U8(1), acc[0], high)
		VADDPD(high, sum, sum)
	}
	Store(horizontalSum64(sum.(reg.VecVirtual)), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// halves returns the lower and the upper numbers of a register.
func (v vectors) halves(x Op) [2]Op {
	low := x.(reg.VecVirtual)
	if v.lanes == 16 {
		high := YMM()
		VEXTRACTF64X4(U8(1), x, high)
		return [2]Op{low.AsY(), high}
	}
	high := XMM()
	VEXTRACTF128(U8(1), x, high)
	return [2]Op{low.AsX(), high}
}
