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
		},
		OneRelease: true,
		Run:        overlap,
	})
}

func overlap(ctx context.Context, s *Situation) ([]Outcome, error) {
	plain := wordsOf(s.Test)
	noisy, err := s.release(ctx, release{Test, 0})
	if err != nil {
		return nil, err
	}
	// The floor is what a text has in common with the next one, which is
	// unrelated to it.
	others := append(append([][]int32{}, plain[1:]...), plain[0])
	var got [3]metrics.Overlaps
	for i, text := range [][][]int32{noisy, others, plain} {
		if got[i], err = metrics.MeasureOverlaps(plain, text, s.Options.Level); err != nil {
			return nil, err
		}
	}
	o, floor, ceiling, n := got[0], got[1], got[2], len(plain)
	return []Outcome{
		{Column: "overlap-jaccard", Value: o.Jaccard, Floor: floor.Jaccard.Estimate, Ceiling: 1, Count: n},
		{Column: "overlap-run", Value: o.Run, Floor: floor.Run.Estimate, Ceiling: ceiling.Run.Estimate, Count: n},
	}, nil
}
