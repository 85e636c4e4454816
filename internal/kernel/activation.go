package kernel

import (
	"fmt"
	"math"
	"sync"
)

// function is an elementwise function.
type function int

const (
	functionExp function = iota
	functionSigmoid
	functionTanh
)

// Exp writes e^x for each x of src to dst (same length; dst may be src),
// within 2 ulp: the reference rounds the float64 result. +Inf above 88.73, 0
// below −104; NaN stays NaN.
func Exp(dst, src []float32) { elementwise(functionExp, dst, src) }

// Sigmoid writes 1/(1+e^−x), within 3 ulp for x ≥ −87 and within 2·10⁻³⁸
// below. NaN stays NaN.
func Sigmoid(dst, src []float32) { elementwise(functionSigmoid, dst, src) }

// Tanh writes the hyperbolic tangent, within 4 ulp. NaN stays NaN.
func Tanh(dst, src []float32) { elementwise(functionTanh, dst, src) }

// reference is the specification: float64 arithmetic, rounded once.
func (f function) reference(x float32) float32 {
	switch v := float64(x); f {
	case functionExp:
		return float32(math.Exp(v))
	case functionSigmoid:
		return float32(1 / (1 + math.Exp(-v)))
	default:
		return float32(math.Tanh(v))
	}
}

// rests holds the last numbers, where they do not fill a register.
var rests = sync.Pool{New: func() any { return new([16]float32) }}

func elementwise(f function, dst, src []float32) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("kernel: %d results for %d numbers", len(dst), len(src)))
	}
	s := simd()
	if s.lanes == 0 {
		for i, x := range src {
			dst[i] = f.reference(x)
		}
		return
	}
	apply := [...]func(n int, dst, src *float32){s.exp, s.sigmoid, s.tanh}[f]
	n := s.whole(len(src))
	if n > 0 {
		apply(n, &dst[0], &src[0])
	}
	if n < len(src) {
		rest := rests.Get().(*[16]float32)
		copy(rest[:], src[n:])
		apply(s.lanes, &rest[0], &rest[0])
		copy(dst[n:], rest[:])
		rests.Put(rest)
	}
}
