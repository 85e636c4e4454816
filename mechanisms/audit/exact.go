package audit

import (
	"context"
	"math"

	"mldpbench/embeddings"
)

// exact compares the proven bounds of all outputs for all given pairs and
// passes on the worst output of each.
func (a *audit) exact(ctx context.Context, pairs []pair, found func(Finding)) (tests int, err error) {
	type bounds struct{ low, high []float64 }
	rows := map[embeddings.WordID]bounds{}
	row := func(w embeddings.WordID) (bounds, error) {
		if b, ok := rows[w]; ok {
			return b, nil
		}
		low, high, err := a.bounder.LogBounds(w)
		rows[w] = bounds{low, high}
		return rows[w], err
	}
	for _, p := range pairs {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		of, err := row(p.a)
		if err != nil {
			return 0, err
		}
		against, err := row(p.b)
		if err != nil {
			return 0, err
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
		found(Finding{
			A: a.output(p.a), B: a.output(p.b), Event: []string{a.output(embeddings.WordID(best))}, Outputs: 1,
			Distance: d, LogRatio: worst, Allowed: a.epsilon * d,
		})
	}
	return 0, nil
}
