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

// constant returns a memory operand holding x once per lane.
func (v vectors) constant(x float32) Mem {
	return v.bits(math.Float32bits(x))
}

func (v vectors) bits(u uint32) Mem {
	name := fmt.Sprintf("%s_%08x", v.name, u)
	if m, ok := constantPool[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range v.lanes {
		DATA(4*i, U32(u))
	}
	constantPool[name] = m
	return m
}

var constantPool = map[string]Mem{}

func (v vectors) copy(src Op) VectorRegister {
	dst := v.new()
	VMOVAPS(src, dst)
	return dst
}

// expm1Parts reduces x (already clamped) to n and e^r − 1.
func expm1Parts(v vectors, x Op) (n, p Op) {
	n = v.new()
	VMULPS(v.constant(log2e), x, n)
	if v.lanes == 16 {
		VRNDSCALEPS(U8(8), n, n) // to nearest even, no exception
	} else {
		VROUNDPS(U8(8), n, n)
	}
	r := v.copy(x)
	VFNMADD231PS(v.constant(ln2Hi), n, r)
	VFNMADD231PS(v.constant(float32(ln2Lo)), n, r)
	p = v.new()
	VMOVUPS(v.constant(inverseFactorials[0]), p)
	for _, c := range inverseFactorials[1:] {
		VFMADD213PS(v.constant(c), r, p)
	}
	square := v.new()
	VMULPS(r, r, square)
	VFMADD213PS(r, square, p) // r²·q + r
	return n, p
}

// scale multiplies p by 2^n for an integer n in [−252, 252], in two steps that
// are exact except for the last rounding into the denormals.
func scale(v vectors, p, n Op) {
	i := v.new()
	if v.lanes == 16 {
		VSCALEFPS(n, p, p)
		return
	}
	VCVTPS2DQ(n, i)
	half := v.new()
	VPSRAD(U8(1), i, half)
	VPSUBD(half, i, i)
	for _, e := range []Op{half, i} {
		VPADDD(v.bits(127), e, e)
		VPSLLD(U8(23), e, e)
		VMULPS(e, p, p)
	}
}

func expLane(v vectors, x Op) Op {
	c := v.new()
	// NaN is preserved: MIN and MAX return their last operand, x.
	VMOVUPS(v.constant(89), c)
	VMINPS(x, c, x)
	c = v.new()
	VMOVUPS(v.constant(-105), c)
	VMAXPS(x, c, x)
	n, p := expm1Parts(v, x)
	VADDPS(v.constant(1), p, p)
	scale(v, p, n)
	return p
}

func sigmoidLane(v vectors, x Op) Op {
	VXORPS_(v, v.bits(0x80000000), x)
	c := v.new()
	VMOVUPS(v.constant(88), c) // e^88 is finite: the result is never rounded to 0
	VMINPS(x, c, x)
	e := expLane(v, x)
	VADDPS(v.constant(1), e, e)
	one := v.new()
	VMOVUPS(v.constant(1), one)
	VDIVPS(e, one, e)
	return e
}

// tanhLane: |tanh x| = m/(m+2) with m = e^{2|x|} − 1, which keeps the relative
// error small near 0; the sign is put back.
func tanhLane(v vectors, x Op) Op {
	sign := v.new()
	VMOVUPS(v.bits(0x80000000), sign)
	VANDPS_(v, x, sign)
	VANDPS_(v, v.bits(0x7fffffff), x)
	VADDPS(x, x, x)
	c := v.new()
	VMOVUPS(v.constant(40), c) // tanh 20 rounds to 1
	VMINPS(x, c, x)
	n, p := expm1Parts(v, x)
	scale(v, p, n)
	power := v.new()
	VMOVUPS(v.constant(1), power)
	scale(v, power, n)
	VSUBPS(v.constant(1), power, power)
	VADDPS(power, p, p)
	q := v.new()
	VADDPS(v.constant(2), p, q)
	VDIVPS(q, p, p)
	VORPS_(v, sign, p)
	return p
}

// The bitwise operations on ZMM registers are the integer ones: those on
// floats need AVX-512 DQ.
func VXORPS_(v vectors, m, r Op) {
	if v.lanes == 16 {
		VPXORD(m, r, r)
	} else {
		VXORPS(m, r, r)
	}
}

func VANDPS_(v vectors, m, r Op) {
	if v.lanes == 16 {
		VPANDD(m, r, r)
	} else {
		VANDPS(m, r, r)
	}
}

func VORPS_(v vectors, m, r Op) {
	if v.lanes == 16 {
		VPORD(m, r, r)
	} else {
		VORPS(m, r, r)
	}
}

// activation writes func(n int, dst, src *float32) for n a multiple of the
// number of lanes.
func activation(v vectors, name string, lane func(vectors, Op) Op) {
	TEXT(name+v.name, NOSPLIT, "func(n int, dst, src *float32)")
	Pragma("noescape")
	n := Load(Param("n"), GP64())
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	SUBQ(U32(v.lanes), n)
	JL(LabelRef("done"))
	Label("loop")
	x := v.new()
	VMOVUPS(Mem{Base: src}, x)
	VMOVUPS(lane(v, x), Mem{Base: dst})
	ADDQ(U32(4*v.lanes), src)
	ADDQ(U32(4*v.lanes), dst)
	SUBQ(U32(v.lanes), n)
	JGE(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}
