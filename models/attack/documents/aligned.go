package documents

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/models/attack"
)

func init() {
	Register(Attacker{
		Name:    "linkage-aligned",
		Title:   "words in their places",
		Version: 1,
		InOrder: true,
		Score:   scoreAligned,
	})
}

// scoreAligned is the probability of the release given each original where the channel
// is exact, else the sum of the distances of words. Number and order of words are released
// by every mechanism that replaces words in their places, so only originals of equal
// length can be meant.
func scoreAligned(_ context.Context, t *attack.Target, l Linked) (Scores, error) {
	a := newAligned(t, l)
	if t.Channel != nil {
		a.setUnknown(-math.Log(float64(t.Channel.Outputs)))
		return Scores{Take: a.take, Of: a.scores}, nil
	}
	if !t.Words.HaveVectors() {
		return Scores{}, fmt.Errorf("no vectors of words, and no exact channel")
	}
	a.setUnknown(a.measureDistances())
	return Scores{Of: a.scores}, nil
}

// aligned has a term for each original and released word that meet in one place.
type aligned struct {
	*attack.Target
	Linked
	byLength map[int][]int               // originals, by number of words
	terms    map[int32]map[int32]float64 // by original and released word
}

func newAligned(t *attack.Target, l Linked) *aligned {
	a := &aligned{t, l, map[int][]int{}, map[int32]map[int32]float64{}}
	for i, d := range l.Plain {
		a.byLength[len(d)] = append(a.byLength[len(d)], i)
		for _, x := range d {
			a.terms[x] = map[int32]float64{}
		}
	}
	a.eachPair(func(x, y int32) { a.terms[x][y] = 0 })
	return a
}

// eachPair calls visit for the original and the released word of every place, for every
// release and original of equal length.
func (a *aligned) eachPair(visit func(x, y int32)) {
	for _, noisy := range a.Noisy {
		for _, i := range a.byLength[len(noisy)] {
			for j, x := range a.Plain[i] {
				visit(x, noisy[j])
			}
		}
	}
}

// measureDistances makes the terms of known words the negative distances of the two, and
// returns their mean over all pairs.
func (a *aligned) measureDistances() float64 {
	for x, terms := range a.terms {
		for y := range terms {
			if a.Words.Known(x) {
				terms[y] = -embeddings.Euclidean(a.Words.Vector(x), a.Words.Vector(y))
			}
		}
	}
	sum := 0.0
	n := 0
	a.eachPair(func(x, y int32) {
		if a.Words.Known(x) {
			sum += a.terms[x][y]
			n++
		}
	})
	return sum / float64(max(1, n))
}

// setUnknown sets the terms of words that the mechanism does not know. An output in the place
// of one that was replaced is any word, or as far from it as words are on average; else it was
// kept.
func (a *aligned) setUnknown(term float64) {
	for x, terms := range a.terms {
		for y := range terms {
			if !a.Words.Known(x) && y != x {
				terms[y] = term
			}
		}
	}
}

// take makes the terms of a word the logarithms of its row. One goroutine has all of a word.
func (a *aligned) take(_, x int, row []float64) {
	terms := a.terms[int32(x)]
	for y := range terms {
		terms[y] = math.Inf(-1)
		if a.Words.Known(y) {
			terms[y] = math.Log(row[y])
		}
	}
}

// scores are the sums of the terms of a release with the originals of its length.
func (a *aligned) scores(query int) []float64 {
	noisy := a.Noisy[query]
	out := slices.Repeat([]float64{math.Inf(-1)}, len(a.Plain))
	for _, i := range a.byLength[len(noisy)] {
		out[i] = 0
		for j, x := range a.Plain[i] {
			out[i] += a.terms[x][noisy[j]]
		}
	}
	return out
}
