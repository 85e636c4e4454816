package metrics

import "math"

// Rank is the position of the right answer in a ranking with ties: Above
// answers are strictly better, Equal answers have the same score, the right one
// included (>= 1).
type Rank struct{ Above, Equal int }

// RankOf returns the rank of the answer at index right among scores, higher
// better. A score that is not a number ranks last.
func RankOf(scores []float64, right int) Rank {
	var r Rank
	key := func(s float64) float64 {
		if math.IsNaN(s) {
			return math.Inf(-1)
		}
		return s
	}
	own := key(scores[right])
	for _, s := range scores {
		switch s = key(s); {
		case s > own:
			r.Above++
		case s == own:
			r.Equal++
		}
	}
	return r
}

// First returns the probability that the right answer comes first when ties are
// broken at random: a ranking without information is at chance and not at the top.
func (r Rank) First() float64 {
	if r.Above > 0 {
		return 0
	}
	return 1 / float64(r.Equal)
}
