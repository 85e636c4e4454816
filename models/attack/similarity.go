package attack

import (
	"context"
	"math"
	"slices"
)

// scoreTFIDF weighs words by counts and ln((1+n)/(1+df)) + 1 over the
// plain documents; words that none of them has are left out.
func scoreTFIDF(_ context.Context, _ *Situation, l linked) (func(int) []float64, error) {
	counts := func(d []int32) map[int32]int {
		n := make(map[int32]int, len(d))
		for _, w := range d {
			n[w]++
		}
		return n
	}
	df := map[int32]int{}
	for _, d := range l.plain {
		for w := range counts(d) {
			df[w]++
		}
	}
	vector := func(d []int32) (words []int32, weights []float64) {
		n := counts(d)
		for w := range n {
			if df[w] > 0 {
				words = append(words, w)
			}
		}
		slices.Sort(words)
		square := 0.0
		for _, w := range words {
			v := float64(n[w]) * (math.Log((1+float64(len(l.plain)))/(1+float64(df[w]))) + 1)
			weights = append(weights, v)
			square += float64(v * v)
		}
		for i := range weights {
			weights[i] /= math.Sqrt(square)
		}
		return words, weights
	}
	type entry struct {
		document int
		weight   float64
	}
	postings := map[int32][]entry{}
	for i, d := range l.plain {
		words, weights := vector(d)
		for j, w := range words {
			postings[w] = append(postings[w], entry{i, weights[j]})
		}
	}
	return func(query int) []float64 {
		scores := make([]float64, len(l.plain))
		words, weights := vector(l.noisy[query])
		for j, w := range words {
			for _, e := range postings[w] {
				scores[e.document] += float64(weights[j] * e.weight)
			}
		}
		return scores
	}, nil
}
