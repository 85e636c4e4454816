package attack

import (
	"context"

	"mldpbench/internal/stats"
	"mldpbench/metrics"
)

// overlap is the Jaccard similarity of the words of a text before and after, which needs
// no places: a mean over documents. The floor is that of a text and the next one, which is
// unrelated to it.
func init() {
	Register(Definition{
		Name:       "overlap",
		Columns:    []Column{{Name: "overlap-jaccard", Title: "overlap of words, Jaccard", Mean: true}},
		OneRelease: true,
		Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			plain := wordsOf(s.Test)
			noisy, err := s.release(ctx, release{Test, 0})
			if err != nil {
				return nil, err
			}
			var found, floor []float64
			for i, d := range plain {
				if len(d) > 0 {
					found = append(found, metrics.Jaccard(d, noisy[i]))
					floor = append(floor, metrics.Jaccard(d, plain[(i+1)%len(plain)]))
				}
			}
			return []Outcome{{Column: "overlap-jaccard", Value: stats.MeanInterval(found, s.Options.Level),
				Floor: stats.MeanInterval(floor, s.Options.Level).Estimate, Ceiling: 1, Count: len(plain)}}, nil
		},
	})
}
