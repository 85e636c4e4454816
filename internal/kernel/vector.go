package kernel

import "fmt"

// Axpy adds alpha·x to y. Product and sum are rounded separately to float32:
// the same bits on every path.
func Axpy(alpha float32, x, y []float32) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: axpy of %d and %d numbers", len(x), len(y)))
	}
	s := simd()
	n := s.whole(len(x))
	if n > 0 {
		s.axpy(n, alpha, &x[0], &y[0])
	}
	for i, v := range x[n:] {
		y[n+i] += float32(alpha * v) // the conversion forbids a fused multiply-add
	}
}
