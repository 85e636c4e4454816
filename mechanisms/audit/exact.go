package audit

import (
	"context"
	"math"

	"mldpbench/embeddings"
)

// exact compares the probabilities of all outputs for all given pairs and records
// the worst output of each. Pairs of one word follow each other, so few rows are
// held.
func (a *audit) exact(ctx context.Context, pairs []pair, r *Report) (tests int, err error) {
	rows := map[embeddings.WordID][]float64{}
	row := func(w embeddings.WordID) ([]float64, error) {
		if logs, ok := rows[w]; ok {
			return logs, nil
		}
		if len(rows) == heldRows {
			clear(rows)
		}
		logs, err := a.mechanism.LogRow(w)
		rows[w] = logs
		return logs, err
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
		for y, x := range of {
			if math.IsInf(x, -1) {
				continue // impossible: nothing to compare
			}
			if ratio := x - against[y]; best < 0 || ratio > worst {
				best, worst = y, ratio
			}
		}
		d := a.distance(p.a, p.b)
		r.record(Finding{
			A: a.output(p.a), B: a.output(p.b), Event: []string{a.output(embeddings.WordID(best))}, Outputs: 1,
			Distance: d, LogRatio: worst, Allowed: a.epsilon * d,
		})
		r.shown(p, a.epsilon*d, worst, 0)
	}
	return 0, nil
}

// heldRows bounds the memory of rows.
const heldRows = 256

// shown keeps the least factor that each word looked at would have shown: the
// log-ratio of a violation by a factor is that factor times the one seen, of which
// slack is lost to chance.
func (r *Report) shown(p pair, allowed, ratio, slack float64) {
	factor := math.Inf(1)
	if ratio > 0 && allowed > 0 {
		factor = max(1, (allowed+slack)/ratio)
	}
	if least, ok := r.powers[p.looked]; ok {
		factor = min(factor, least)
	}
	if r.powers == nil {
		r.powers = map[embeddings.WordID]float64{}
	}
	r.powers[p.looked] = factor
}
