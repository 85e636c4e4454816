package metrics

import (
	"fmt"
	"math"

	"mldpbench/internal/stats"
)

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

// CS returns the mean cosine similarity ×100 of the sentence embeddings of
// documents before and after privatising, with its 95% t interval over
// documents ([M24] §4.1.3). Embeddings are one vector per document, all of
// equal length.
func CS(original, privatised [][]float32) (stats.Interval, error) {
	if len(original) != len(privatised) {
		return stats.Interval{}, fmt.Errorf("cs: %d embeddings for %d", len(privatised), len(original))
	}
	similarities := make([]float64, len(original))
	for i, v := range original {
		if len(v) != len(privatised[i]) {
			return stats.Interval{}, fmt.Errorf("cs: document %d: %d and %d dimensions", i, len(v), len(privatised[i]))
		}
		similarities[i] = 100 * Cosine(v, privatised[i])
	}
	return stats.MeanInterval(similarities, 0.95), nil
}
