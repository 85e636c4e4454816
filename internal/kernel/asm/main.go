// Command asm writes the assembly of package kernel; run it with
//
//	go generate ./internal/kernel
//
// It is a separate module so that avo is not a dependency of the project.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// vectors is one instruction set: a width and how its registers are made.
type vectors struct {
	name  string
	lanes int // float32 per register
	new   func() VectorRegister
}

// VectorRegister is a YMM or ZMM register.
type VectorRegister = Op

var (
	avx512 = vectors{"AVX512", 16, func() VectorRegister { return ZMM() }}
	avx2   = vectors{"AVX2", 8, func() VectorRegister { return YMM() }}
)

func main() {
	ConstraintExpr("amd64")
	for rows := 1; rows <= 14; rows++ {
		gemmTile(avx512, rows, true)
		gemmTile(avx512, rows, false)
	}
	for rows := 1; rows <= 6; rows++ {
		gemmTile(avx2, rows, true)
		gemmTile(avx2, rows, false)
	}
	for _, v := range []vectors{avx512, avx2} {
		activation(v, "exp", expLane)
		activation(v, "sigmoid", sigmoidLane)
		activation(v, "tanh", tanhLane)
		cellForward(v)
		cellBackward(v)
		dot(v)
		axpy(v)
		peak(v)
	}
	scan(avx512, scanRows512, false)
	scan(avx2, scanRows256, false)
	scan(avx512, scanRows512, true)
	scan(avx2, scanRows256, true)
	squaredDistance(avx512)
	squaredDistance(avx2)
	distancesTo()
	for _, v := range []vectors{avx512, avx2} {
		pairs(v, true)
		pairs(v, false)
		weightSum(v)
		fold(v)
		atMost(v)
	}
	Generate()
}
