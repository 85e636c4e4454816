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

// vectors is one instruction set: a width and how its registers are made. AVX2
// alone serves where the width makes no study faster.
type vectors struct {
	name  string
	lanes int // float32 per register
	new   func() Op
}

var (
	avx512 = vectors{"AVX512", 16, func() Op { return ZMM() }}
	avx2   = vectors{"AVX2", 8, func() Op { return YMM() }}
)

func main() {
	ConstraintExpr("amd64,!noasm")
	for rows := 1; rows <= 14; rows++ {
		gemmTile(avx512, rows)
	}
	for rows := 1; rows <= 6; rows++ {
		gemmTile(avx2, rows)
	}
	for _, v := range []vectors{avx512, avx2} {
		cellForward(v)
		cellBackward(v)
	}
	squaredDistance()
	distancesTo()
	scan(avx512, scanRows512)
	scan(avx2, scanRows256)
	pairs(avx512, true)
	pairs(avx2, true)
	pairs(avx2, false)
	weightSum(avx512)
	weightSum(avx2)
	fold()
	atMost()
	Generate()
}
