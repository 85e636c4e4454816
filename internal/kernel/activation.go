package kernel

import (
	"fmt"
	"math"
	"sync"
)

// Exp writes e^x for each x of src to dst (same length; dst may be src),
// within 2 ulp: the reference rounds the float64 result. +Inf above 88.73, 0
// below −104; NaN stays NaN.
func Exp(dst, src []float32) { elementwise(simd().exp, math.Exp, dst, src) }

// Sigmoid writes 1/(1+e^−x), within 3 ulp for x ≥ −87 and within 2·10⁻³⁸
// below. NaN stays NaN.
func Sigmoid(dst, src []float32) {
	elementwise(simd().sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, dst, src)
}

// Tanh writes the hyperbolic tangent, within 4 ulp. NaN stays NaN.
func Tanh(dst, src []float32) { elementwise(simd().tanh, math.Tanh, dst, src) }

// rests holds the last numbers, where they do not fill a register.
var rests = sync.Pool{New: func() any { return new([16]float32) }}

// elementwise applies the assembly where there is some, else the specification:
// float64 arithmetic, rounded once.
func elementwise(assembly func(n int, dst, src *float32), reference func(x float64) float64, dst, src []float32) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("kernel: %d results for %d numbers", len(dst), len(src)))
	}
	if assembly == nil {
		for i, x := range src {
			dst[i] = float32(reference(float64(x)))
		}
		return
	}
	s := simd()
	n := s.whole(len(src))
	if n > 0 {
		assembly(n, &dst[0], &src[0])
	}
	if n < len(src) {
		rest := rests.Get().(*[16]float32)
		copy(rest[:], src[n:])
		assembly(s.lanes, &rest[0], &rest[0])
		copy(dst[n:], rest[:])
		rests.Put(rest)
	}
}
