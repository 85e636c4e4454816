package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// constants of the exponential, after range reduction x = n·ln2 + r with
// |r| ≤ ln2/2. Polynomial: Taylor coefficients 1/2! … 1/7!, whose remainder
// r⁸/8! is below 2⁻²⁷ of the result.
const (
	log2e = 1.44269504088896340736
	ln2Hi = 0.693359375 // 9 significant bits: n·ln2Hi is exact
	ln2Lo = math.Ln2 - ln2Hi
)

var inverseFactorials = []float32{1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5}

// constant returns a memory operand holding x in all places of the widest
// register.
func constant(x float32) Mem { return bits(math.Float32bits(x)) }

func bits(u uint32) Mem {
	name := fmt.Sprintf("all_%08x", u)
	if m, ok := constantPool[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(uint64(u)<<32|uint64(u)))
	}
	constantPool[name] = m
	return m
}

var constantPool = map[string]Mem{}

func (v vectors) copy(src Op) Op {
	dst := v.new()
	VMOVAPS(src, dst)
	return dst
}

// expm1Parts reduces x (already clamped) to n and e^r − 1.
func (v vectors) expm1Parts(x Op) (n, p Op) {
	n = v.new()
	VMULPS(constant(log2e), x, n)
	if v.lanes == 16 { // to nearest even, no exception
		VRNDSCALEPS(U8(8), n, n)
	} else {
		VROUNDPS(U8(8), n, n)
	}
	r := v.copy(x)
	VFNMADD231PS(constant(ln2Hi), n, r)
	VFNMADD231PS(constant(float32(ln2Lo)), n, r)
	p = v.new()
	VMOVUPS(constant(inverseFactorials[0]), p)
	for _, c := range inverseFactorials[1:] {
		VFMADD213PS(constant(c), r, p)
	}
	square := v.new()
	VMULPS(r, r, square)
	VFMADD213PS(r, square, p) // r²·q + r
	return n, p
}

// scale multiplies p by 2^n for an integer n in [−252, 252], rounded once: of
// the two steps of AVX2 the first is exact.
func (v vectors) scale(p, n Op) {
	if v.lanes == 16 {
		VSCALEFPS(n, p, p)
		return
	}
	i := YMM()
	VCVTPS2DQ(n, i)
	half := YMM()
	VPSRAD(U8(1), i, half)
	VPSUBD(half, i, i)
	for _, e := range []Op{half, i} {
		VPADDD(bits(127), e, e)
		VPSLLD(U8(23), e, e)
		VMULPS(e, p, p)
	}
}

// expLane is e^x for x ≤ 89.
func (v vectors) expLane(x Op) Op {
	c := v.new()
	VMOVUPS(constant(-105), c)
	VMAXPS(x, c, x) // NaN is preserved: MIN and MAX return their last operand
	n, p := v.expm1Parts(x)
	VADDPS(constant(1), p, p)
	v.scale(p, n)
	return p
}

func (v vectors) sigmoidLane(x Op) Op {
	VXORPS(bits(0x80000000), x, x)
	c := v.new()
	VMOVUPS(constant(88), c) // e^88 is finite: the result is never rounded to 0
	VMINPS(x, c, x)
	e := v.expLane(x)
	VADDPS(constant(1), e, e)
	one := v.new()
	VMOVUPS(constant(1), one)
	VDIVPS(e, one, e)
	return e
}

// tanhLane: |tanh x| = m/(m+2) with m = e^{2|x|} − 1, which keeps the relative
// error small near 0; the sign is put back.
func (v vectors) tanhLane(x Op) Op {
	sign := v.new()
	VMOVUPS(bits(0x80000000), sign)
	VANDPS(x, sign, sign)
	VANDPS(bits(0x7fffffff), x, x)
	VADDPS(x, x, x)
	c := v.new()
	VMOVUPS(constant(40), c) // tanh 20 rounds to 1
	VMINPS(x, c, x)
	n, p := v.expm1Parts(x)
	power, q := v.new(), v.new()
	VMOVUPS(constant(1), power)
	v.scale(power, n)
	VSUBPS(constant(1), power, q)
	VFMADD213PS(q, power, p) // the product is exact
	q = v.new()
	VADDPS(constant(2), p, q)
	VDIVPS(q, p, p)
	VORPS(sign, p, p)
	return p
}
