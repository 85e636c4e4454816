package attack

import (
	"context"
	"maps"
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
	type entry struct {
		id     int32 // of a word, or of a document with it
		weight float64
	}
	vector := func(d []int32) (entries []entry) {
		n, square := counts(d), 0.0
		for _, w := range slices.Sorted(maps.Keys(n)) {
			if df[w] > 0 {
				v := float64(n[w]) * (math.Log((1+float64(len(l.plain)))/(1+float64(df[w]))) + 1)
				entries, square = append(entries, entry{w, v}), square+float64(v*v)
			}
		}
		for i := range entries {
			entries[i].weight /= math.Sqrt(square)
		}
		return entries
	}
	postings := map[int32][]entry{}
	for i, d := range l.plain {
		for _, w := range vector(d) {
			postings[w.id] = append(postings[w.id], entry{int32(i), w.weight})
		}
	}
	return func(query int) []float64 {
		scores := make([]float64, len(l.plain))
		for _, w := range vector(l.noisy[query]) {
			for _, d := range postings[w.id] {
				scores[d.id] += float64(w.weight * d.weight)
			}
		}
		return scores
	}, nil
}
