package measure

import (
	"context"
	"slices"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() {
	auditor, _ := attack.Find("auditor") // it is registered
	Register(Measurement{
		Name: "user-audit", Version: 2, Baseline: true, Columns: attackColumns(auditor),
		Metric:  study.Metric{Key: "user_audit", New: func() any { return &struct{}{} }},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureUserAudit,
	})
}

// measureUserAudit is an auditor of a language model who finds out whose texts
// trained it: Feyisetan et al. 2020, Tables 3 and 4. The data set has users. Its
// policy should be random: unknown words that are kept name their users.
func measureUserAudit(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	options, err := attack.Options{}.Complete()
	if err != nil {
		return nil, err
	}
	l := attack.NewLexicon(r.Space.Vocabulary)
	s := attack.Situation{Options: options, DataSeed: r.DataSeed(), Workers: q.Threads, Words: r.Space.Len(),
		Seed: r.ReleaseSeed(),
		Release: func(_ context.Context, documents [][]int32, _ stream.Seed) ([][]int32, error) {
			return documents, nil
		}}
	if !r.IsBaseline() {
		m, err := r.Words(ctx)
		if err != nil {
			return nil, err
		}
		l = attack.NewLexicon(m.Vocabulary())
		attack.Attacked(&s, m, r.Space.Space, r.Policy, l)
	}
	for _, d := range slices.Concat(r.Corpus.Train, r.Corpus.Validation, r.Corpus.Test) {
		s.Train = append(s.Train, attack.Document{Words: l.IDs(d.Tokens), User: d.User})
	}
	s.Embedding = l.Embedding(r.Space.Space)
	outcomes, err := attack.RunAll(ctx, []string{"auditor"}, s)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	return list.Map(outcomes, func(x attack.Outcome) results.Row { return Attacked(row, x) }), nil
}
