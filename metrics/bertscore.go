package metrics

import (
	"fmt"
	"math"
	"slices"
)

// BERTScore is how well the tokens of one text match those of another: the
// mean over documents, ×100, with its 95% t interval.
type BERTScore struct {
	Precision Interval // over the tokens of the privatised text
	Recall    Interval // over the tokens of the original
	F1        Interval // of the F1 of each document
}

// MeasureBERTScore compares documents by the vectors of their tokens (Zhang et
// al. 2020, eqs. for R, P and F, without idf weights and without rescaling to a
// baseline). Each token is matched with the most similar token of the other
// text by cosine. Vectors are one per token, all of equal length; those of
// special tokens must be left out, so they are neither averaged nor matched
// (the authors' program leaves them out of the average only).
//
// The result differs in the seventh digit between processors, as the vectors do.
// Two texts without tokens are equal (1), a text without tokens and one with
// tokens have nothing in common (0).
func MeasureBERTScore(original, privatised [][][]float32) (BERTScore, error) {
	if len(original) != len(privatised) {
		return BERTScore{}, fmt.Errorf("bertscore: %d documents for %d", len(privatised), len(original))
	}
	var values [3][]float64
	for i := range original {
		p, r, f, err := bertScore(original[i], privatised[i])
		if err != nil {
			return BERTScore{}, fmt.Errorf("bertscore: document %d: %w", i, err)
		}
		for k, x := range [3]float64{p, r, f} {
			values[k] = append(values[k], 100*x)
		}
	}
	return BERTScore{MeanInterval(values[0], 0.95), MeanInterval(values[1], 0.95), MeanInterval(values[2], 0.95)}, nil
}

// bertScore returns precision, recall and F1 of one document.
func bertScore(original, privatised [][]float32) (precision, recall, f1 float64, err error) {
	if len(original) == 0 || len(privatised) == 0 {
		if len(original) == len(privatised) {
			return 1, 1, 1, nil
		}
		return 0, 0, 0, nil
	}
	a, b := directions(original), directions(privatised)
	bestA, bestB := slices.Repeat([]float64{-1}, len(a)), slices.Repeat([]float64{-1}, len(b))
	for i, x := range a {
		for j, y := range b {
			if len(x) != len(y) {
				return 0, 0, 0, fmt.Errorf("vectors of %d and %d dimensions", len(x), len(y))
			}
			var product float64
			for k, v := range x {
				product += float64(v) * float64(y[k])
			}
			dot := max(-1, min(1, product))
			bestA[i], bestB[j] = max(bestA[i], dot), max(bestB[j], dot)
		}
	}
	precision, recall = average(bestB), average(bestA)
	if sum := precision + recall; sum > 0 {
		f1 = 2 * precision * recall / sum
	}
	return precision, recall, f1, nil
}

// directions scales vectors to length 1; a zero vector stays zero.
func directions(vectors [][]float32) [][]float32 {
	out := make([][]float32, len(vectors))
	for i, v := range vectors {
		var square float64
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		out[i] = make([]float32, len(v))
		for k, x := range v {
			if square > 0 {
				out[i][k] = float32(float64(x) / math.Sqrt(square))
			}
		}
	}
	return out
}

func average(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
