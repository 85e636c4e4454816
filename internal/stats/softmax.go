package stats

import (
	"math"
	"slices"
)

// Softmax writes exp(x_i) / Σ_j exp(x_j) to dst, which has the length of x and may be x. The largest number is
// subtracted before it is exponentiated, so nothing overflows. x must not be empty; one that is NaN makes all NaN.
func Softmax[T float32 | float64](dst []float64, x []T) {
	top := float64(slices.Max(x))
	var sum float64
	for i, v := range x {
		dst[i] = math.Exp(float64(v) - top)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}
