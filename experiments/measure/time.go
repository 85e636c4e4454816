package measure

import (
	"context"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// How long privatising takes, and how much memory.
func init() {
	Register(Measurement{
		Name:       "time",
		Version:    1,
		Quantities: quantities("privatize_seconds", "words_per_second", "peak_memory_mib"),
		Asked:      func(*study.Study, *study.Scene) (any, bool) { return nil, true },
		Applies: func(s *Spec, _ *Query) bool { // a text from a file took nobody's time here
			return s.Mechanism.Outside == nil || s.Mechanism.Outside.Text == ""
		},
		Measure: func(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
			if err := r.privatize(ctx); err != nil {
				return nil, err
			}
			row := r.Row(q)
			seconds := r.Took.Seconds()
			of := func(quantity string, v float64) results.Row {
				return row.Of(quantity, results.Number(v))
			}
			return []results.Row{of("privatize_seconds", seconds),
				of("words_per_second", float64(r.Tokens)/seconds),
				of("peak_memory_mib", engine.PeakMemoryMiB())}, nil
		},
	})
}
