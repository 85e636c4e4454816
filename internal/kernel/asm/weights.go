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
func weightSum() {
	TEXT("weightSumAVX2", NOSPLIT, "func(n int, row, law *float32) float64")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	row := Load(Param("row"), GP64())
	law := Load(Param("law"), GP64())
	var parts [4]Op // offset, most, least, rate
	for i := range parts {
		parts[i] = YMM()
		VBROADCASTSS(Mem{Base: law, Disp: 4 * i}, parts[i])
	}
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		zero(acc[i])
	}
	TESTQ(n, n)
	JZ(LabelRef("sum"))
	Label("loop")
	x, none := YMM(), YMM()
	VMOVUPS(Mem{Base: row}, x)
	const unequal = 12
	there := YMM() // x ≠ +Inf
	VCMPPS(U8(unequal), bits(0x7f800000), x, there)
	VADDPS(parts[0], x, x)
	zero(none)
	VMAXPS(none, x, x)
	VSQRTPS(x, x)
	VMINPS(parts[1], x, x)
	VSUBPS(x, parts[2], x)
	VMULPS(parts[3], x, x)
	e := avx2.expLane(x)
	VANDPS(there, e, e)
	high, wide := XMM(), YMM()
	VEXTRACTF128(U8(1), e, high)
	VCVTPS2PD(e.(reg.VecVirtual).AsX(), wide)
	VADDPD(wide, acc[0], acc[0])
	wide = YMM()
	VCVTPS2PD(high, wide)
	VADDPD(wide, acc[1], acc[1])
	ADDQ(U32(32), row)
	SUBQ(U32(8), n)
	JNZ(LabelRef("loop"))
	Label("sum")
	VADDPD(acc[1], acc[0], acc[0])
	Store(horizontalSum64(acc[0]), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
