package measure

import (
	"context"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

func init() {
	Register(Measurement{
		Name:       "text",
		Version:    2,
		Setting:    true,
		Quantities: quantities("pp", "tokens_unknown"),
		Asked:      func(*study.Study, *study.Scene) (any, bool) { return nil, true },
		Measure:    measureText,
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
	changed := make([]int, len(c.Before))
	total := make([]int, len(c.Before))
	unknown := 0
	for i, document := range c.Before {
		total[i] = len(document)
		for j, t := range document {
			if c.Aligned[i][j] != t { // a word that was removed is changed: the reader does not see it
				changed[i]++
			}
			if vocabulary.ID(t) == embeddings.Unknown {
				unknown++
			}
		}
	}
	pp := ofDocuments(changed, total)
	without := results.Number(float64(unknown))
	without.Part = unknown
	without.Whole = pp.Whole
	return []results.Row{row.Of("pp", pp), row.Of("tokens_unknown", without)}, nil
}
