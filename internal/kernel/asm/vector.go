package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// horizontalSum64 adds the four float64 of a register.
func horizontalSum64(y reg.VecVirtual) reg.Register {
	low, high := y.AsX(), XMM()
	VEXTRACTF128(U8(1), y, high)
	VADDPD(low, high, high)
	swapped := XMM()
	VPERMILPD(U8(1), high, swapped)
	VADDPD(swapped, high, high)
	return high
}

// squaredDistance writes Σ(aᵢ−bᵢ)² in float64 for n a multiple of eight.
func squaredDistance() {
	TEXT("squaredDistanceAVX2", NOSPLIT, "func(n int, a, b *float32) float64")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		zero(acc[i])
	}
	TESTQ(n, n)
	JZ(LabelRef("sum"))
	Label("loop")
	for i := range acc {
		x, y := YMM(), YMM()
		VCVTPS2PD(Mem{Base: a, Disp: 16 * i}, x)
		VCVTPS2PD(Mem{Base: b, Disp: 16 * i}, y)
		VSUBPD(y, x, x)
		VFMADD231PD(x, x, acc[i])
	}
	ADDQ(U32(32), a)
	ADDQ(U32(32), b)
	SUBQ(U32(8), n)
	JNZ(LabelRef("loop"))
	Label("sum")
	VADDPD(acc[1], acc[0], acc[0])
	Store(horizontalSum64(acc[0]), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
