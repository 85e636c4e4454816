// Package metric is a template: copy it, and import it in cmd/mldp.
package metric

import (
	"context"

	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// The share of different words.
func init() {
	measure.Register(measure.Measurement{
		Name:    "distinct",
		Version: 1,
		Setting: true,
		Quantities: []quantity.Quantity{{
			Name:      "distinct",
			Title:     "different words",
			Unit:      "%",
			Direction: quantity.Up,
			Digits:    1,
			Threshold: 3,
			Counted:   true,
		}},
		Metric: study.Metric{
			Key: "distinct",
			Doc: "share of different words among all of the privatised text",
			New: func() any { return &struct{}{} },
		},
		Applies: hasText,
		Measure: distinct,
	})
}

// hasText reports whether a release is text, not vectors.
func hasText(s *measure.Spec, _ *measure.Query) bool { return s.Definition().NewVector == nil }

// distinct counts the different tokens of the private text, among all of them.
func distinct(ctx context.Context, r *measure.Release, q *measure.Query) ([]results.Row, error) {
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	total := 0
	for _, document := range c.After {
		total += len(document)
		for _, token := range document {
			seen[token] = true
		}
	}
	return []results.Row{r.Row(q).Of("distinct", results.Share(len(seen), total))}, nil
}
