package kernel

import "fmt"

// Dot returns Σ aᵢ·bᵢ. Its error is at most len·2⁻²⁴·Σ|aᵢ·bᵢ|; the order of
// summation depends on the path.
func Dot(a, b []float32) float32 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("kernel: dot of %d and %d numbers", len(a), len(b)))
	}
	var sum float32
	p := active()
	n := 0
	if lanes := p.lanes(); lanes > 1 && len(a) >= lanes {
		n = len(a) &^ (lanes - 1)
		sum = p.dot(n, &a[0], &b[0])
	}
	for i, x := range a[n:] {
		sum += x * b[n+i]
	}
	return sum
}

// Axpy adds alpha·x to y.
func Axpy(alpha float32, x, y []float32) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("kernel: axpy of %d and %d numbers", len(x), len(y)))
	}
	p := active()
	n := 0
	if lanes := p.lanes(); lanes > 1 && len(x) >= lanes {
		n = len(x) &^ (lanes - 1)
		p.axpy(n, alpha, &x[0], &y[0])
	}
	for i, v := range x[n:] {
		y[n+i] += alpha * v
	}
}
