package models

import (
	"math"

	"mldpbench/internal/kernel"
)

// inFloat64 is the arithmetic for checking derivatives against differences.
var inFloat64 = arithmetic[float64]{plainGemm, func(words []int32, input, gates, prev, cell, tanh,
	hidden []float64) {
	kernel.ReferenceCellForward(plainSigmoid, plainTanh, words, input, gates, prev, cell, tanh, hidden)
}, kernel.ReferenceCellBackward[float64], plainAdd}

// arithmeticOf returns that of a type of numbers.
func arithmeticOf[T float]() arithmetic[T] {
	if a, ok := any(inFloat32).(arithmetic[T]); ok {
		return a
	}
	return any(inFloat64).(arithmetic[T])
}

func plainGemm(transA bool, m, n, k int, a []float64, lda int, b []float64, ldb int, add bool, c []float64, ldc int) {
	for i := range m {
		for j := range n {
			var sum float64
			for l := range k {
				x := i*lda + l
				if transA {
					x = l*lda + i
				}
				sum += a[x] * b[l*ldb+j]
			}
			if add {
				sum += c[i*ldc+j]
			}
			c[i*ldc+j] = sum // overwrites C whatever it held, even NaN
		}
	}
}

func plainSigmoid(dst, src []float64) {
	for i, x := range src {
		dst[i] = 1 / (1 + math.Exp(-x))
	}
}

func plainTanh(dst, src []float64) {
	for i, x := range src {
		dst[i] = math.Tanh(x)
	}
}

func plainAdd(dst, src []float64) {
	for i, x := range src {
		dst[i] += x
	}
}
