package metrics

import (
	"fmt"
	"math"

	"mldpbench/internal/stats"
)

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

// Within returns the probability that the right answer is among the first k
// when ties are broken at random.
func (r Rank) Within(k int) float64 {
	return min(1, max(0, float64(k-r.Above)/float64(r.Equal)))
}

// Reciprocal returns the expectation of 1/rank when ties are broken at random.
func (r Rank) Reciprocal() float64 {
	return (harmonic(r.Above+r.Equal) - harmonic(r.Above)) / float64(r.Equal)
}

// harmonic returns 1 + 1/2 + … + 1/n.
func harmonic(n int) float64 {
	sum := 0.0
	for i := n; i > 0; i-- {
		sum += 1 / float64(i)
	}
	return sum
}

// Retrieval measures how well rankings find the right answer.
type Retrieval struct {
	P1, R10, MRR stats.Interval // shares 0–1, with t intervals over the queries
	Queries      int
}

// MeasureRetrieval summarises ranks among n answers as P@1, R@10 and the mean
// reciprocal rank. Ties count with their expectation, so a ranking without
// information (all scores equal) is at chance and not at the top.
func MeasureRetrieval(ranks []Rank, answers int, level float64) (Retrieval, error) {
	out := Retrieval{Queries: len(ranks)}
	var p1, r10, mrr []float64
	for i, r := range ranks {
		if r.Above < 0 || r.Equal < 1 || r.Above+r.Equal > answers {
			return out, fmt.Errorf("retrieval: query %d: %d better and %d equal of %d answers", i, r.Above, r.Equal,
				answers)
		}
		p1, r10, mrr = append(p1, r.Within(1)), append(r10, r.Within(10)), append(mrr, r.Reciprocal())
	}
	out.P1, out.R10 = stats.MeanInterval(p1, level), stats.MeanInterval(r10, level)
	out.MRR = stats.MeanInterval(mrr, level)
	// A share; what is not known of one query stays infinite.
	if len(mrr) > 1 {
		out.MRR.Low, out.MRR.High = max(out.MRR.Low, 0), min(out.MRR.High, 1)
	}
	return out, nil
}
