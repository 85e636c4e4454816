package metrics

import (
	"math"
	"slices"

	"mldpbench/embeddings"
)

// Search indexes documents. What it returns gives the scores of all of them for a query,
// by counts times inverse document frequencies, log(n/df): the cosine but for the length
// of the query, 0 where no word is shared.
func Search(documents [][]string) func(query []string) []float64 {
	type posting struct {
		document int
		count    float64
	}
	words, _ := embeddings.CountWords(documents)
	in, square := map[string][]posting{}, make([]float64, len(documents))
	for i, d := range documents {
		own, counts := embeddings.CountWords([][]string{d})
		for _, w := range own {
			in[w] = append(in[w], posting{i, float64(counts[w])})
		}
	}
	idf := func(w string) float64 { return math.Log(float64(len(documents)) / float64(len(in[w]))) }
	for _, w := range words {
		for _, p := range in[w] {
			square[p.document] += math.Pow(p.count*idf(w), 2)
		}
	}
	return func(query []string) []float64 {
		scores := make([]float64, len(documents))
		for _, w := range query {
			for _, p := range in[w] {
				scores[p.document] += idf(w) * idf(w) * p.count / math.Sqrt(max(square[p.document], math.SmallestNonzeroFloat64))
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
