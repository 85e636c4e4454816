package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// combine writes dst = a ∘ b for n a multiple of eight. aStep and bStep
// are the bytes to the next register of each operand: the width of a register,
// or 0 for an operand that is one register of equal numbers.
func combine(name string, instruction func(...Op)) {
	TEXT(name+"AVX2", NOSPLIT, "func(n int, dst, a, b *float32, aStep, bStep int)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	dst := Load(Param("dst"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	aStep := Load(Param("aStep"), GP64())
	bStep := Load(Param("bStep"), GP64())
	Label("loop")
	SUBQ(U32(8), n)
	JL(LabelRef("done"))
	x, y := YMM(), YMM()
	VMOVUPS(Mem{Base: a}, x)
	VMOVUPS(Mem{Base: b}, y)
	switch name {
	case "larger", "smaller": // the last source is kept where one is NaN
		instruction(x, y, x)
	default:
		instruction(y, x, x)
	}
	VMOVUPS(x, Mem{Base: dst})
	ADDQ(aStep, a)
	ADDQ(bStep, b)
	ADDQ(U32(32), dst)
	JMP(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// sum writes func(n int, x *float32) float32 for n a multiple of eight:
// the sum of the numbers.
func sum() {
	TEXT("sumAVX2", NOSPLIT, "func(n int, x *float32) float32")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = YMM()
		zero(acc[i])
	}
	step := 32
	Label("blocks")
	CMPQ(n, U32(len(acc)*8))
	JL(LabelRef("rest"))
	for i := range acc {
		VADDPS(Mem{Base: x, Disp: i * step}, acc[i], acc[i])
	}
	ADDQ(U32(len(acc)*step), x)
	SUBQ(U32(len(acc)*8), n)
	JMP(LabelRef("blocks"))
	Label("rest")
	CMPQ(n, U32(8))
	JL(LabelRef("sum"))
	VADDPS(Mem{Base: x}, acc[0], acc[0])
	ADDQ(U32(step), x)
	SUBQ(U32(8), n)
	JMP(LabelRef("rest"))
	Label("sum")
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	low, high, swapped := acc[0].AsX(), XMM(), XMM()
	VEXTRACTF128(U8(1), acc[0], high)
	VADDPS(low, high, high)
	VPERMILPS(U8(0b01001110), high, swapped)
	VADDPS(swapped, high, high)
	VPERMILPS(U8(0b10110001), high, swapped)
	VADDPS(swapped, high, high)
	Store(high, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// largest writes func(n int, x *float32) float32 for n > 0 a multiple of
// eight: the largest number.
func largest() {
	TEXT("largestAVX2", NOSPLIT, "func(n int, x *float32) float32")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	x := Load(Param("x"), GP64())
	acc := YMM()
	VMOVUPS(Mem{Base: x}, acc)
	Label("loop")
	SUBQ(U32(8), n)
	JLE(LabelRef("lanes"))
	ADDQ(U32(32), x)
	VMAXPS(Mem{Base: x}, acc, acc)
	JMP(LabelRef("loop"))
	Label("lanes")
	low, high := acc.AsX(), XMM()
	VEXTRACTF128(U8(1), acc, high)
	VMAXPS(low, high, high)
	swapped := XMM()
	VPERMILPS(U8(0b01001110), high, swapped)
	VMAXPS(swapped, high, high)
	VPERMILPS(U8(0b10110001), high, swapped)
	VMAXPS(swapped, high, high)
	Store(high, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
