package attack

import (
	"context"

	"mldpbench/metrics"
)

// overlap finds the words of a text that are unchanged; means over documents.
func init() {
	Register(Definition{
		Name: "overlap",
		Columns: []Column{
			{Name: "overlap-jaccard", Title: "overlap of words, Jaccard", Mean: true},
			{Name: "overlap-run", Title: "longest common run", Unit: "tokens"},
			{Name: "overlap-run-share", Title: "longest common run, share", Mean: true}, // of the text
		},
		OneRelease: true,
		Run:        runOverlap,
	})
}

func runOverlap(ctx context.Context, s *Situation) ([]Outcome, error) {
	plain := wordsOf(s.Test)
	noisy, err := s.Released(ctx, Test)
	if err != nil {
		return nil, err
	}
	o, err := metrics.MeasureOverlaps(plain, noisy, s.Options.Level)
	if err != nil {
		return nil, err
	}
	// The floor is what a text has in common with the next one, which is
	// unrelated to it.
	others := append(append([][]int32{}, plain[1:]...), plain[0])
	floor, err := metrics.MeasureOverlaps(plain, others, s.Options.Level)
	if err != nil {
		return nil, err
	}
	ceiling, err := metrics.MeasureOverlaps(plain, plain, s.Options.Level)
	if err != nil {
		return nil, err
	}
	n := len(plain)
	return []Outcome{
		{Column: "overlap-jaccard", Value: o.Jaccard, Floor: floor.Jaccard.Estimate, Ceiling: 1, Count: n},
		{Column: "overlap-run", Value: o.Run, Floor: floor.Run.Estimate, Ceiling: ceiling.Run.Estimate, Count: n},
		{Column: "overlap-run-share", Value: o.RunShare, Floor: floor.RunShare.Estimate, Ceiling: 1, Count: n},
	}, nil
}
