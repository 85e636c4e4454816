package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dot writes func(n int, a, b *float32) float32 for n a multiple of the lanes.
func dot(v vectors) {
	TEXT("dot"+v.name, NOSPLIT, "func(n int, a, b *float32) float32")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	const chains = 4
	var acc [chains]Op
	for i := range acc {
		acc[i] = v.new()
		zero(acc[i])
	}
	step := 4 * v.lanes
	Label("blocks")
	CMPQ(n, U32(chains*v.lanes))
	JL(LabelRef("rest"))
	for i := range acc {
		x := v.new()
		VMOVUPS(Mem{Base: a, Disp: i * step}, x)
		VFMADD231PS(Mem{Base: b, Disp: i * step}, x, acc[i])
	}
	ADDQ(U32(chains*step), a)
	ADDQ(U32(chains*step), b)
	SUBQ(U32(chains*v.lanes), n)
	JMP(LabelRef("blocks"))
	Label("rest")
	CMPQ(n, U32(v.lanes))
	JL(LabelRef("sum"))
	x := v.new()
	VMOVUPS(Mem{Base: a}, x)
	VFMADD231PS(Mem{Base: b}, x, acc[0])
	ADDQ(U32(step), a)
	ADDQ(U32(step), b)
	SUBQ(U32(v.lanes), n)
	JMP(LabelRef("rest"))
	Label("sum")
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	Store(horizontalSum(v, acc[0]), ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// horizontalSum adds the lanes of a register.
func horizontalSum(v vectors, r Op) reg.Register {
	y := r.(reg.VecVirtual).AsY()
	if v.lanes == 16 {
		high := YMM()
		VEXTRACTF64X4(U8(1), r, high)
		sum := YMM()
		VADDPS(high, y, sum)
		y = sum
	}
	low, high := y.(reg.VecVirtual).AsX(), XMM()
	VEXTRACTF128(U8(1), y, high)
	VADDPS(low, high, high)
	swapped := XMM()
	VPERMILPS(U8(0b01001110), high, swapped)
	VADDPS(swapped, high, high)
	VPERMILPS(U8(0b10110001), high, swapped)
	VADDPS(swapped, high, high)
	return high
}

// axpy writes y += alpha·x for n a multiple of the lanes.
func axpy(v vectors) {
	TEXT("axpy"+v.name, NOSPLIT, "func(n int, alpha float32, x, y *float32)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	y := Load(Param("y"), GP64())
	alpha := v.new()
	broadcastParam("alpha", alpha)
	Label("loop")
	SUBQ(U32(v.lanes), n)
	JL(LabelRef("done"))
	r := v.new()
	VMOVUPS(Mem{Base: y}, r)
	VFMADD231PS(Mem{Base: x}, alpha, r)
	VMOVUPS(r, Mem{Base: y})
	ADDQ(U32(4*v.lanes), x)
	ADDQ(U32(4*v.lanes), y)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// peak writes n rounds of independent fused multiply-adds on registers: the
// machine's ceiling, against which the kernels are measured.
func peak(v vectors) {
	TEXT("peak"+v.name, NOSPLIT, "func(n int)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	var acc [peakChains]Op
	for i := range acc {
		acc[i] = v.new()
		zero(acc[i])
	}
	x := v.new()
	zero(x)
	Label("loop")
	for range 4 {
		for i := range acc {
			VFMADD231PS(x, x, acc[i])
		}
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

const peakChains = 12 // two units × four cycles of latency, and some more

// horizontalSum64 adds the float64 lanes of a register.
func horizontalSum64(v vectors, r Op) reg.Register {
	y := r.(reg.VecVirtual).AsY()
	if v.lanes == 16 {
		high := YMM()
		VEXTRACTF64X4(U8(1), r, high)
		sum := YMM()
		VADDPD(high, y, sum)
		y = sum
	}
	low, high := y.(reg.VecVirtual).AsX(), XMM()
	VEXTRACTF128(U8(1), y, high)
	VADDPD(low, high, high)
	swapped := XMM()
	VPERMILPD(U8(1), high, swapped)
	VADDPD(swapped, high, high)
	return high
}
