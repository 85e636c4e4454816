package kernel

import (
	"fmt"
	"sync"
)

// Operation is an elementwise operation on two operands.
type Operation int

// Larger and Smaller keep a where either operand is not a number or both are
// equal.
const (
	Add Operation = iota
	Subtract
	Multiply
	Divide
	Larger
	Smaller
)

// Combine writes a ∘ b to dst. Each operand has the length of dst, or is one
// number, which stands for a vector of it. dst may be an operand. Results are
// rounded once, so they are the same on every path.
func Combine(o Operation, dst, a, b []float32) {
	if len(a) != len(dst) && len(a) != 1 || len(b) != len(dst) && len(b) != 1 {
		panic(fmt.Sprintf("kernel: %d results for %d and %d numbers", len(dst), len(a), len(b)))
	}
	n := 0
	if s := simd(); s.combine[o] != nil {
		if n = s.whole(len(dst)); n > 0 {
			repeated := constants.Get().(*[2][8]float32)
			x, xStep := operand(&repeated[0], a)
			y, yStep := operand(&repeated[1], b)
			s.combine[o](n, &dst[0], x, y, xStep, yStep)
			constants.Put(repeated)
		}
	}
	x, y := a[0:1], b[0:1]
	for i := n; i < len(dst); i++ {
		if len(a) > 1 {
			x = a[i:]
		}
		if len(b) > 1 {
			y = b[i:]
		}
		dst[i] = o.reference(x[0], y[0])
	}
}

// constants holds two operands that are one number each.
var constants = sync.Pool{New: func() any { return new([2][8]float32) }}

// operand returns where an operand begins, and the bytes to its next register
// of eight numbers.
func operand(repeated *[8]float32, x []float32) (*float32, int) {
	if len(x) > 1 {
		return &x[0], 32
	}
	for i := range repeated {
		repeated[i] = x[0]
	}
	return &repeated[0], 0
}

// reference is the specification.
func (o Operation) reference(a, b float32) float32 {
	switch o {
	case Add:
		return a + b
	case Subtract:
		return a - b
	case Multiply:
		return a * b
	case Divide:
		return a / b
	case Larger:
		if b > a {
			return b
		}
		return a
	default:
		if b < a {
			return b
		}
		return a
	}
}

// Sum returns the sum of x; its order depends on the path and on len(x) only.
func Sum(x []float32) float32 {
	var total float32
	n := 0
	if s := simd(); s.sum != nil {
		if n = s.whole(len(x)); n > 0 {
			total = s.sum(n, &x[0])
		}
	}
	for _, v := range x[n:] {
		total += v
	}
	return total
}

// Largest returns the largest of x, which must not be empty. The result is
// undefined where a number is NaN.
func Largest(x []float32) float32 {
	largest := x[0]
	n := 0
	if s := simd(); s.largest != nil {
		if n = s.whole(len(x)); n > 0 {
			largest = s.largest(n, &x[0])
		}
	}
	for _, v := range x[n:] {
		largest = max(largest, v)
	}
	return largest
}

// erfCoefficients are those of Abramowitz & Stegun 1964, 7.1.26: erf x = 1 −
// (a₁t + … + a₅t⁵)·e^(−x²) with t = 1/(1 + p·x) for x ≥ 0, within 1.5·10⁻⁷.
var erfCoefficients = [5]float32{0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429}

const erfP = 0.3275911

// Erf writes the error function of src to dst (same length; dst may be src),
// within 10⁻⁶: the error of the formula and the rounding of its terms, which
// are larger than 1.
func Erf(dst, src []float32) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("kernel: %d results for %d numbers", len(dst), len(src)))
	}
	const block = 256
	var x, t, poly [block]float32
	minusOne, one, p := []float32{-1}, []float32{1}, []float32{erfP}
	for len(src) > 0 {
		n := min(block, len(src))
		x, t, poly, src0 := x[:n], t[:n], poly[:n], src[:n]
		Combine(Multiply, x, src0, minusOne)
		Combine(Larger, x, x, src0) // |x|
		Combine(Multiply, t, x, p)
		Combine(Add, t, t, one)
		Combine(Divide, t, one, t)
		Combine(Multiply, poly, t, erfCoefficients[4:])
		for i := 3; i >= 0; i-- {
			Combine(Add, poly, poly, erfCoefficients[i:i+1])
			Combine(Multiply, poly, poly, t)
		}
		Combine(Multiply, x, x, x)
		Combine(Multiply, x, x, minusOne)
		Exp(x, x)
		Combine(Multiply, poly, poly, x)
		for i, v := range poly {
			if src0[i] < 0 {
				dst[i] = v - 1
			} else {
				dst[i] = 1 - v // NaN stays NaN
			}
		}
		dst, src = dst[n:], src[n:]
	}
}

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
