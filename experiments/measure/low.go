package measure

import (
	"context"
	"fmt"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/metrics"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name: "low", Version: 1, Setting: true, Columns: columns("low", "low_overlap"),
		Metric: study.Metric{Key: "low", Doc: "LOW: the overlap of the so many least frequent words before and after",
			New: func() any { return new(int) },
			Check: func(options any, _ *study.Design, at study.At) error {
				n := *options.(*int)
				if n > 1_000_000 {
					return at(fmt.Errorf("metrics.low = %d: must be at most 1,000,000", n), "")
				}
				return at(check.AtLeast("metrics.low", n, 0), "")
			}},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && *q.Options.(*int) > 0 },
		Measure: measureLow,
	})
}

// measureLow follows the least frequent words of the original, as many as the
// options say: which of them are still there, and which are still among the
// least frequent.
func measureLow(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	n := *q.Options.(*int)
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	rare, err := lab.Once(r.Lab, engine.MakeID("low", r.Corpus.Fingerprint, r.Dataset.Name, n, r.Root()),
		func() ([]string, error) {
			return metrics.LeastFrequent(r.Corpus.Documents, n, r.Root().Derive("low", r.Corpus.Name)), nil
		})
	if err != nil {
		return nil, fmt.Errorf("low: %w", err)
	}
	row := r.Row(q)
	present := results.Share(metrics.CountPresent(rare, c.After), len(rare))
	shared, least := metrics.CountOverlap(c.Before, c.After, n)
	return []results.Row{row.Of("low", percent(present)), row.Of("low_overlap", percent(results.Share(shared, least)))},
		nil
}

// percent computes the value of a share as package metrics does.
func percent(m results.Measured) results.Measured {
	m.Value = results.Float(metrics.Percent(m.Part, m.Whole))
	return m
}
