package metrics

import "slices"

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
