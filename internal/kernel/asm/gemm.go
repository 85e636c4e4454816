package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gemmTile writes C[rows × 2 registers] = Σₚ A[·,p]·B[p,·] + F; F, from, may be
// C, and is 0 where it is nil.
//
// A is read by broadcasts with free row and column strides, so that neither A
// nor its transpose is ever packed: rows are reached from few base registers
// with the index forms base, base+s, base+2s. All strides are in bytes.
func gemmTile(v vectors, rows int) {
	TEXT(fmt.Sprintf("gemm%s_%d", v.name, rows), NOSPLIT, "func(k int, a *float32, rowStride, colStride int, "+
		"b *float32, bStride int, c *float32, cStride int, from *float32, fromStride int)")
	Pragma("noescape")
	width := v.lanes * 4

	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	rs := Load(Param("rowStride"), GP64())
	cs := Load(Param("colStride"), GP64())
	b := Load(Param("b"), GP64())
	bs := Load(Param("bStride"), GP64())

	bases := []reg.Register{a}
	if rows > 3 {
		three := GP64()
		LEAQ(Mem{Base: rs, Index: rs, Scale: 2}, three)
		for r := 3; r < rows; r += 3 {
			next := GP64()
			LEAQ(Mem{Base: bases[len(bases)-1], Index: three, Scale: 1}, next)
			bases = append(bases, next)
		}
	}
	element := func(r int) Mem {
		switch m := (Mem{Base: bases[r/3]}); r % 3 {
		case 1:
			return m.Idx(rs, 1)
		case 2:
			return m.Idx(rs, 2)
		default:
			return m
		}
	}

	acc := make([][2]Op, rows)
	for r := range acc {
		for j := range acc[r] {
			acc[r][j] = v.new()
			zero(acc[r][j])
		}
	}
	TESTQ(k, k)
	JZ(LabelRef("store"))
	Label("loop")
	b0, b1 := v.new(), v.new()
	VMOVUPS(Mem{Base: b}, b0)
	VMOVUPS(Mem{Base: b, Disp: width}, b1)
	ADDQ(bs, b)
	scalar := v.new()
	for r := range acc {
		VBROADCASTSS(element(r), scalar)
		for j, col := range []Op{b0, b1} {
			VFMADD231PS(scalar, col, acc[r][j])
		}
	}
	for _, base := range bases {
		ADDQ(cs, base)
	}
	DECQ(k)
	JNZ(LabelRef("loop"))

	Label("store")
	c := Load(Param("c"), GP64())
	stride := Load(Param("cStride"), GP64())
	from := Load(Param("from"), GP64())
	fromStride := Load(Param("fromStride"), GP64())
	TESTQ(from, from)
	JNZ(LabelRef("accumulate"))
	for _, read := range []bool{false, true} {
		if read {
			Label("accumulate")
		}
		for r := range acc {
			for j, x := range acc[r] {
				if read {
					VADDPS(Mem{Base: from, Disp: j * width}, x, x)
				}
				VMOVUPS(x, Mem{Base: c, Disp: j * width})
			}
			ADDQ(stride, c)
			if read {
				ADDQ(fromStride, from)
			}
		}
		VZEROUPPER()
		RET()
	}
}

func zero(r Op) {
	if _, ok := r.(reg.VecVirtual); ok && r.(reg.Register).Size() == 64 {
		VPXORD(r, r, r)
		return
	}
	VXORPS(r, r, r)
}

func broadcastParam(name string, dst Op) { VBROADCASTSS(paramAddress(name), dst) }

func paramAddress(name string) Mem {
	basic, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return basic.Addr
}
