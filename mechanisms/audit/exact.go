package audit

import (
	"context"
	"math"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
)

// exact compares the certain bounds of all outputs for all chosen pairs, and
// for every pair of a small vocabulary.
func (a *audit) exact(ctx context.Context, m mechanisms.LogBounder, r *Report) error {
	r.Method = Exact
	var pairs []pair
	if a.space.Len() <= allPairs {
		pairs = everyPair(a.space.Len())
	} else {
		words, closest := a.options.pairCounts(20, 20)
		pairs = a.pairs(words, closest)
	}
	r.Pairs = len(pairs)
	type bounds struct{ low, high []float64 }
	rows := map[embeddings.WordID]bounds{}
	row := func(w embeddings.WordID) (bounds, error) {
		if b, ok := rows[w]; ok {
			return b, nil
		}
		low, high, err := m.LogBounds(w)
		rows[w] = bounds{low, high}
		return rows[w], err
	}
	v := a.mechanism.Vocabulary()
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return err
		}
		of, err := row(p.a)
		if err != nil {
			return err
		}
		against, err := row(p.b)
		if err != nil {
			return err
		}
		best, worst := -1, math.Inf(-1)
		for y, low := range of.low {
			if math.IsInf(low, -1) {
				continue // may be impossible: nothing to compare
			}
			if ratio := low - against.high[y]; best < 0 || ratio > worst {
				best, worst = y, ratio
			}
		}
		if best < 0 {
			continue
		}
		d := a.distance(p.a, p.b)
		r.record(Finding{
			A: v.Word(p.a), B: v.Word(p.b), Event: []string{v.Word(embeddings.WordID(best))}, Outputs: 1,
			Distance: d, LogRatio: worst, Allowed: a.epsilon * d,
		})
	}
	return nil
}
