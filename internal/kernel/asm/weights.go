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
// least and rate. The same code serves processors with AVX-512: the square
// root and the exponential are no faster there.
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
	x, there, none := v.new(), v.new(), v.new()
	VMOVUPS(Mem{Base: row}, x)
	VCMPPS(U8(12), v.bits(0x7f800000), x, there) // x ≠ +Inf
	VADDPS(parts[0], x, x)
	zero(none)
	VMAXPS(none, x, x)
	VSQRTPS(x, x)
	VMINPS(parts[1], x, x)
	VSUBPS(x, parts[2], x)
	VMULPS(parts[3], x, x)
	e := expLane(v, x)
	VANDPS(there, e, e)
	wide := v.new()
	VCVTPS2PD(e.(reg.VecVirtual).AsX(), wide)
	VADDPD(wide, acc[0], acc[0])
	high := XMM()
	VEXTRACTF128(U8(1), e, high)
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
