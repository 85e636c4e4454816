package measure

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name: "examples", Version: 1, Baseline: true, Columns: []results.Column{{Name: "example", Unit: "%"}},
		Metric: study.Metric{Key: "examples", Doc: "so many documents of each text, evenly spaced, as they are before and " +
			"after: they are in the records, word for word",
			New: func() any { return new(int) },
			Check: func(options any, _ *study.Design, at study.At) error {
				return at(check.Within("metrics.examples", float64(*options.(*int)), 0, 100), "")
			}},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*int) > 0 && s.Repetition == 1 },
		Measure: measureExamples,
	})
}

// measureExamples are documents of the first split that is private, each with the share
// of its words that changed. They count as repetitions.
func measureExamples(ctx context.Context, r *Release, q *Query) (rows []results.Row, err error) {
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	row, n := r.Row(q), *q.Options.(*int)
	for i, split := range text {
		for k := range min(n, len(split)) {
			at := k * len(split) / n
			before, after, changed := r.Corpus.Tokens[i][at], split[at], 0
			for j := range min(len(before), len(after)) {
				if before[j] != after[j] {
					changed++
				}
			}
			m := results.Share(changed, len(before))
			m.Detail, row.Repetition = joined(after), k+1
			rows = append(rows, row.Of("example", m))
		}
		if len(rows) > 0 {
			break
		}
	}
	return rows, nil
}
