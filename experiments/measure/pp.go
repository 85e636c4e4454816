package measure

import (
	"context"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/metrics"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name: "text", Version: 1, Setting: true, Columns: columns("pp", "tokens_unknown"),
		Asked: func(s *study.Study, scene *study.Scene) (any, bool) {
			return nil, s.Protocol == study.Grid
		},
		Applies: hasText,
		Measure: measureText,
	})
}

// hasText is true of releases of words.
func hasText(s *Spec, _ *Query) bool { return s.Definition().NewVector == nil }

// measureText counts the changed tokens, PP, and those without a vector.
func measureText(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if !c.InPlace {
		return []results.Row{unmeasured(row, "pp", "tokens do not align with the original")}, nil
	}
	vocabulary := r.batch.mechanism.Vocabulary()
	counts, err := metrics.CountChanged(c.Before, c.Aligned,
		func(t string) bool { return vocabulary.ID(t) == embeddings.Unknown })
	if err != nil {
		return nil, err
	}
	pp, unknown := results.Share(counts.Changed, counts.Total), results.Number(float64(counts.Unknown))
	pp.Value = results.Float(counts.PP())
	unknown.Part, unknown.Whole = counts.Unknown, counts.Total
	return []results.Row{row.Of("pp", pp), row.Of("tokens_unknown", unknown)}, nil
}
