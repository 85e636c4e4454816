package models

import (
	"math"

	"mldpbench/internal/kernel"
)

// float is the arithmetic a network can be built in: float32 is for training,
// float64 for checking derivatives against differences.
type float interface{ float32 | float64 }

// arithmetic holds the operations that the recurrence needs for its number
// type. Matrices are row-major with a row stride; gemm is C = alpha·op(A)·op(B)
// + beta·C with op(A) m × k and op(B) k × n.
type arithmetic[T float] struct {
	gemm         func(transA, transB bool, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)
	cellForward  func(gates, prev, cell, tanh, hidden []T) // see kernel.CellForward
	cellBackward func(gates, prev, tanh, dh, dc []T)       // see kernel.CellBackward
	add          func(dst, src []T)                        // dst += src
}

func arithmeticOf[T float]() arithmetic[T] {
	var a any
	switch any(T(0)).(type) {
	case float32:
		forward := func(gates, prev, cell, tanh, hidden []float32) {
			kernel.CellForward(kernel.Sigmoid, kernel.Tanh, gates, prev, cell, tanh, hidden)
		}
		a = arithmetic[float32]{kernel.Gemm, forward, kernel.CellBackward[float32],
			func(dst, src []float32) { kernel.Axpy(1, src, dst) }}
	case float64:
		forward := func(gates, prev, cell, tanh, hidden []float64) {
			kernel.CellForward(plainSigmoid, plainTanh, gates, prev, cell, tanh, hidden)
		}
		a = arithmetic[float64]{plainGemm, forward, kernel.CellBackward[float64], plainAdd}
	}
	return a.(arithmetic[T])
}

func plainGemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int,
	beta float64, c []float64, ldc int) {
	for i := range m {
		for j := range n {
			var sum float64
			for l := range k {
				x, y := i*lda+l, l*ldb+j
				if transA {
					x = l*lda + i
				}
				if transB {
					y = j*ldb + l
				}
				sum += a[x] * b[y]
			}
			if beta != 0 {
				c[i*ldc+j] = alpha*sum + beta*c[i*ldc+j]
			} else { // overwrites C whatever it held, even NaN
				c[i*ldc+j] = alpha * sum
			}
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
