package attack

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
)

// scoreAligned is the probability of the release given each original where the channel
// is exact, else the sum of the distances of words. Number and order of words are released
// by every mechanism that replaces words in their places, so only originals of equal
// length can be meant.
func scoreAligned(_ context.Context, s *Situation, l linked) (func(int) []float64, error) {
	if s.Channel == nil && s.Embedding.Len() < s.Words {
		return nil, fmt.Errorf("no vectors of words, and no exact channel")
	}
	equal, terms := map[int][]int{}, map[int32]map[int32]float64{} // documents by length; terms by original and release
	for i, d := range l.plain {
		equal[len(d)] = append(equal[len(d)], i)
		for _, x := range d {
			terms[x] = map[int32]float64{}
		}
	}
	// An output in the place of a word that the mechanism does not know and that was
	// replaced is any word, or as far from it as words are on average.
	unknown, n := 0.0, 0
	for _, noisy := range l.noisy {
		for _, i := range equal[len(noisy)] {
			for j, x := range l.plain[i] {
				term, met := terms[x][noisy[j]]
				if !met && s.Channel == nil && s.knows(x) {
					term = -embeddings.Euclidean(s.vector(x), s.vector(noisy[j]))
				}
				if terms[x][noisy[j]] = term; s.knows(x) {
					unknown, n = unknown+term, n+1
				}
			}
		}
	}
	unknown /= float64(max(1, n))
	if s.Channel != nil {
		unknown = -math.Log(float64(s.Channel.Outputs))
		if err := s.rows(func(_, x int, row []float64) { // one goroutine has all of a word
			for y := range terms[int32(x)] {
				terms[int32(x)][y] = math.Inf(-1)
				if s.knows(y) {
					terms[int32(x)][y] = math.Log(row[y])
				}
			}
		}); err != nil {
			return nil, err
		}
	}
	for x, of := range terms {
		for y := range of {
			if !s.knows(x) && y != x { // else it was kept
				of[y] = unknown
			}
		}
	}
	return func(q int) []float64 {
		out := slices.Repeat([]float64{math.Inf(-1)}, len(l.plain))
		for _, i := range equal[len(l.noisy[q])] {
			out[i] = 0
			for j, x := range l.plain[i] {
				out[i] += terms[x][l.noisy[q][j]]
			}
		}
		return out
	}, nil
}
