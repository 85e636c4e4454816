package metrics

import "math"

// Cosine returns the cosine similarity of two vectors of equal length,
// accumulated in float64, in [−1, 1]. A zero vector has no direction: the
// result is 0, or 1 when both are zero, because identical texts are perfectly
// similar.
func Cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i, x := range a {
		y := float64(b[i]) // products of two float32 are exact in float64, so fusing changes nothing
		dot += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	switch {
	case aa == 0 && bb == 0:
		return 1
	case aa == 0 || bb == 0:
		return 0
	}
	return max(-1, min(1, dot/(math.Sqrt(aa)*math.Sqrt(bb))))
}
