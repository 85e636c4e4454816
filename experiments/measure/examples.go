package measure

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Documents before and after.
func init() {
	Register(Measurement{
		Name:       "examples",
		Version:    1,
		Baseline:   true,
		Quantities: []quantity.Quantity{{Name: "example"}},
		Metric: study.Metric{
			Key: "examples",
			Doc: "so many documents of each text, evenly spaced, as they are before and " +
				"after: they are in the records, word for word",
			New:    func() any { return new(int) },
			Limits: "0,100",
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*int) > 0 && s.Repetition == 1 },
		Measure: measureExamples,
	})
}

// measureExamples are documents of the first split that is private, each with its number
// of words. They count as repetitions.
func measureExamples(ctx context.Context, r *Release, q *Query) (rows []results.Row, err error) {
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	n := *q.Options.(*int)
	for _, split := range text {
		for k := range min(n, len(split)) {
			at := k * len(split) / n
			m := results.Number(float64(len(split[at])))
			m.Detail = joined(split[at])
			row.Repetition = k + 1
			rows = append(rows, row.Of("example", m))
		}
		if len(rows) > 0 {
			break
		}
	}
	return rows, nil
}
