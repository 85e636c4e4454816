package measure

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/models/attack"
	"mldpbench/models/attack/users"
	"mldpbench/results"
	"mldpbench/stream"
)

// The audit of whose texts trained a model.
func init() {
	Register(Measurement{
		Name:       "user-audit",
		Version:    2,
		Baseline:   true,
		Quantities: attackQuantities("auditor", users.Columns),
		Metric: study.Metric{
			Key: "user_audit",
			Doc: "whose texts trained a language model? Feyisetan et al. 2020, Tables 3 and 4; no options: " +
				"{}",
			New: func() any { return &struct{}{} },
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureUserAudit,
	})
}

// measureUserAudit is an auditor of a language model who finds out whose texts
// trained it: Feyisetan et al. 2020, Tables 3 and 4. The data set has users. Its
// policy should be random: unknown words that are kept name their users.
func measureUserAudit(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	lexicon := attack.NewLexicon(r.Space.Vocabulary)
	t := &attack.Target{Releases: &attack.Releases{Words: unchanged, Noise: r.ReleaseSeed()}, Workers: q.Threads}
	if !r.IsBaseline() {
		m, err := r.Words(ctx)
		if err != nil {
			return nil, err
		}
		lexicon = attack.NewLexicon(m.Vocabulary())
		t = attack.NewTarget(m, r.Policy, lexicon, r.ReleaseSeed(), q.Threads)
	}
	t.Corpus = &attack.Corpus{Seed: r.DataSeed()}
	for _, split := range r.Corpus.Splits() {
		t.Corpus.Train = append(t.Corpus.Train, lexicon.Documents(split.Documents)...)
	}
	t.Words.Embedding = lexicon.Embedding(r.Space.Space)
	outcomes, err := users.Audit(ctx, t)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	return list.Map(outcomes, func(x attack.Outcome) results.Row {
		return attackedRow(row, x)
	}), nil
}

// unchanged releases documents as they are.
func unchanged(_ context.Context, documents [][]int32, _ stream.Seed) ([][]int32, error) {
	return documents, nil
}
