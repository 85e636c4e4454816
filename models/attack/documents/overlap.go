package documents

import (
	"context"

	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models/attack"
)

// overlap is the Jaccard similarity of the words of a text before and after, which needs
// no places: a mean over documents. The floor is that of a text and the next one, which is
// unrelated to it.
func init() {
	attack.Register(attack.Definition{
		Name:       "overlap",
		Columns:    []attack.Column{{Name: "overlap-jaccard", Title: "overlap of words, Jaccard", Mean: true}},
		OneRelease: true,
		Start:      attack.AtOnce(overlap),
	})
}

// overlap is the outcome.
func overlap(ctx context.Context, t *attack.Target) ([]attack.Outcome, error) {
	noisy, err := t.Release(ctx, attack.Test, 0)
	if err != nil {
		return nil, err
	}
	plain := attack.WordsOf(t.Corpus.Test)
	var similar, unrelated []float64
	for i, d := range plain {
		if len(d) > 0 {
			similar = append(similar, metrics.Jaccard(d, noisy[i]))
			unrelated = append(unrelated, metrics.Jaccard(d, plain[(i+1)%len(plain)]))
		}
	}
	return []attack.Outcome{{
		Column:  "overlap-jaccard",
		Value:   stats.MeanInterval(similar, t.Options.Level),
		Floor:   stats.MeanInterval(unrelated, t.Options.Level).Estimate,
		Ceiling: 1,
		Count:   len(plain),
	}}, nil
}
