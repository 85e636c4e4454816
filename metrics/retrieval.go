package metrics

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// TFIDF indexes documents. What it returns gives their cosines with a query, by counts
// times ln((1+n)/(1+df)) + 1; words that no document has are left out.
func TFIDF[W cmp.Ordered](documents [][]W) func(query []W) []float64 {
	counts := func(d []W) map[W]int {
		n := make(map[W]int, len(d))
		for _, w := range d {
			n[w]++
		}
		return n
	}
	df := map[W]int{}
	for _, d := range documents {
		for w := range counts(d) {
			df[w]++
		}
	}
	type entry struct {
		word     W
		document int
		weight   float64
	}
	vector := func(d []W, document int) (entries []entry) {
		n, square := counts(d), 0.0
		for _, w := range slices.Sorted(maps.Keys(n)) {
			if df[w] > 0 {
				v := float64(n[w]) * (math.Log((1+float64(len(documents)))/(1+float64(df[w]))) + 1)
				entries, square = append(entries, entry{w, document, v}), square+float64(v*v)
			}
		}
		for i := range entries {
			entries[i].weight /= math.Sqrt(square)
		}
		return entries
	}
	postings := map[W][]entry{}
	for i, d := range documents {
		for _, w := range vector(d, i) {
			postings[w.word] = append(postings[w.word], w)
		}
	}
	return func(query []W) []float64 {
		scores := make([]float64, len(documents))
		for _, w := range vector(query, 0) {
			for _, d := range postings[w.word] {
				scores[d.document] += float64(w.weight * d.weight)
			}
		}
		return scores
	}
}

// Precision returns the average precision of the ranking by falling scores, and the
// reciprocal rank of its first relevant document: their means over queries are MAP and
// MRR. Equal scores are in the order of documents; a document without a score is not
// found, and own, that of the query, is not ranked.
func Precision(scores []float64, relevant []int, own int) (average, reciprocal float64) {
	var ranks []int
	for _, d := range relevant {
		rank := 1
		for other, s := range scores {
			if other != own && (s > scores[d] || s == scores[d] && other < d) {
				rank++
			}
		}
		if scores[d] > 0 {
			ranks = append(ranks, rank)
		}
	}
	slices.Sort(ranks)
	for i, rank := range ranks {
		average += float64(i+1) / float64(rank) / float64(len(relevant))
		reciprocal = max(reciprocal, 1/float64(rank))
	}
	return average, reciprocal
}
