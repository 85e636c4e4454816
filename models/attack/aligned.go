package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/embeddings"
)

// aligner compares releases with originals word by word. Number and order of
// words are released by every mechanism that replaces words in their places, so
// only originals of equal length can be meant.
type aligner struct {
	linked
	equal map[int][]int // documents by the length of their original
	// terms[q][j] are the terms of the sum for release q and the j-th original of
	// its length, by position. Each is written by one goroutine.
	terms [][][]float64
	// places[x] are the positions of word x in originals.
	places map[int32][]place
}

// each calls put with every pair of word x in an original and of a release's word at
// the same position, among documents of equal length.
func (a *aligner) each(x int32, put func(y int32, term *float64)) {
	for _, p := range a.places[x] {
		length := len(a.plain[p.document])
		j := slices.Index(a.equal[length], p.document)
		for q, y := range a.noisy {
			if len(y) == length {
				put(y[p.position], &a.terms[q][j][p.position])
			}
		}
	}
}

// scoreAligned is the probability of the release given each original where the channel
// is exact, else the sum of the distances of words.
func scoreAligned(_ context.Context, s *Situation, l linked) (func(int) []float64, error) {
	if s.Channel == nil && s.Embedding.Len() < s.Words {
		return nil, fmt.Errorf("no vectors of words, and no exact channel")
	}
	a := &aligner{l, map[int][]int{}, make([][][]float64, len(l.plain)), map[int32][]place{}}
	for i, d := range l.plain {
		a.equal[len(d)] = append(a.equal[len(d)], i)
		for j, w := range d {
			a.places[w] = append(a.places[w], place{i, j})
		}
	}
	for q, y := range l.noisy {
		for range a.equal[len(y)] {
			a.terms[q] = append(a.terms[q], make([]float64, len(y)))
		}
	}
	words := slices.Sorted(maps.Keys(a.places))
	// An output in the place of a word that the mechanism does not know and that was
	// replaced is any word, or as far from it as words are on average.
	unknown := 0.0
	if s.Channel != nil {
		unknown = -math.Log(float64(s.Channel.Outputs))
		if err := s.rows(func(_, x int, row []float64) {
			a.each(int32(x), func(y int32, term *float64) {
				*term = math.Inf(-1)
				if s.knows(y) {
					*term = math.Log(row[y])
				}
			})
		}); err != nil {
			return nil, err
		}
	} else {
		sum, n := 0.0, 0
		for _, x := range words {
			if s.knows(x) {
				a.each(x, func(y int32, term *float64) {
					*term = -embeddings.Euclidean(s.vector(x), s.vector(y))
					sum, n = sum+*term, n+1
				})
			}
		}
		unknown = sum / float64(max(1, n))
	}
	for _, x := range words {
		if !s.knows(x) {
			a.each(x, func(y int32, term *float64) {
				if y != x { // else it was kept
					*term = unknown
				}
			})
		}
	}
	return func(q int) []float64 {
		out := slices.Repeat([]float64{math.Inf(-1)}, len(l.plain))
		for j, i := range a.equal[len(l.noisy[q])] {
			out[i] = 0
			for _, t := range a.terms[q][j] {
				out[i] += t
			}
		}
		return out
	}, nil
}
