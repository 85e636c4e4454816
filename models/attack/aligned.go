package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/metrics"
)

// linkage-aligned compares words at equal positions, among documents of equal
// length: the probability of the release given each original where the channel is
// exact, else the sum of the distances of words.
func init() {
	d := linkage("aligned", "words in their places")
	d.Needs = []Need{NeedsVectors}
	d.Start = func(ctx context.Context, s *Situation) (Attack, error) {
		if s.Channel == nil && s.Embedding.Len() < s.Words {
			return Attack{}, fmt.Errorf("no vectors of words, and no exact channel")
		}
		a, err := newAligner(ctx, s)
		if err != nil {
			return Attack{}, err
		}
		finish := func(ctx context.Context) ([]Outcome, error) { return a.outcomes(ctx, d.Name) }
		if s.Channel == nil {
			a.byDistance()
			return Attack{Finish: finish}, nil
		}
		a.unknown = -math.Log(float64(s.Channel.Outputs))
		return Attack{func(_, x int, row []float64) { a.byChannel(int32(x), row) }, finish}, nil
	}
	Register(d)
}

// aligner compares releases with originals word by word. Number and order of
// words are released by every mechanism that replaces words in their places, so
// only originals of equal length can be meant.
type aligner struct {
	*Situation
	documents linked
	equal     map[int][]int // documents by the length of their original
	// terms[q][j] are the terms of the sum for release q and the j-th original of
	// its length, by position. Each is written by one goroutine.
	terms [][][]float64
	// places[x] are the positions of word x in originals.
	places map[int32][]place
	// unknown is the term of an output in the place of a word that the mechanism
	// does not know and that was replaced.
	unknown float64
}

func newAligner(ctx context.Context, s *Situation) (*aligner, error) {
	l, err := s.linked(ctx)
	if err != nil {
		return nil, err
	}
	a := &aligner{Situation: s, documents: l, equal: map[int][]int{}, places: map[int32][]place{},
		terms: make([][][]float64, len(l.plain))}
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
	return a, nil
}

// each calls put with every pair of a release's word and the word of an original
// of its length at the same position, given that word's place.
func (a *aligner) each(p place, put func(y int32, term *float64)) {
	length := len(a.documents.plain[p.document])
	j := slices.Index(a.equal[length], p.document)
	for q, y := range a.documents.noisy {
		if len(y) == length {
			put(y[p.position], &a.terms[q][j][p.position])
		}
	}
}

func (a *aligner) byChannel(x int32, row []float64) {
	for _, p := range a.places[x] {
		a.each(p, func(y int32, term *float64) {
			*term = math.Inf(-1)
			if a.knows(y) {
				*term = math.Log(row[y])
			}
		})
	}
}

func (a *aligner) byDistance() {
	sum, n := 0.0, 0
	for _, x := range slices.Sorted(maps.Keys(a.places)) {
		if !a.knows(x) {
			continue
		}
		for _, p := range a.places[x] {
			a.each(p, func(y int32, term *float64) {
				*term = -embeddings.Euclidean(a.vector(x), a.vector(y))
				sum, n = sum+*term, n+1
			})
		}
	}
	if n > 0 { // a replaced unknown word is as far from any other as words are on average
		a.unknown = sum / float64(n)
	}
}

func (a *aligner) outcomes(ctx context.Context, name string) ([]Outcome, error) {
	for _, x := range slices.Sorted(maps.Keys(a.places)) {
		if a.knows(x) {
			continue
		}
		for _, p := range a.places[x] {
			a.each(p, func(y int32, term *float64) {
				if y != x { // else it was kept
					*term = a.unknown
				}
			})
		}
	}
	n := len(a.documents.plain)
	scores := func(q int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = math.Inf(-1)
		}
		for j, i := range a.equal[len(a.documents.noisy[q])] {
			out[i] = 0
			for _, t := range a.terms[q][j] {
				out[i] += t
			}
		}
		return out
	}
	chance := make([]metrics.Rank, n)
	for q, y := range a.documents.noisy {
		chance[q] = metrics.Rank{Equal: len(a.equal[len(y)])}
		if len(y) != len(a.documents.plain[q]) {
			chance[q] = metrics.Rank{Equal: n} // lengths are not kept
		}
	}
	return a.link(ctx, name, a.documents, scores, true, chance)
}
