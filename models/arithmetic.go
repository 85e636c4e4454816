package models

import "mldpbench/internal/kernel"

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

// inFloat32 is the arithmetic of training.
var inFloat32 = arithmetic[float32]{kernel.Gemm,
	func(gates, prev, cell, tanh, hidden []float32) {
		kernel.CellForward(kernel.Sigmoid, kernel.Tanh, gates, prev, cell, tanh, hidden)
	},
	kernel.CellBackward[float32],
	func(dst, src []float32) { kernel.Axpy(1, src, dst) }}
