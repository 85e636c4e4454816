package measure

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() {
	Register(Measurement{
		Name: "user-audit", Version: 2, Baseline: true,
		Columns: attackColumns("auditor", attack.AuditColumns),
		Metric:  study.Metric{Key: "user_audit", New: func() any { return &struct{}{} }},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureUserAudit,
	})
}

// measureUserAudit is an auditor of a language model who finds out whose texts
// trained it: Feyisetan et al. 2020, Tables 3 and 4. The data set has users. Its
// policy should be random: unknown words that are kept name their users.
func measureUserAudit(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	l := attack.NewLexicon(r.Space.Vocabulary)
	s := attack.Situation{Known: attack.Known{Seed: r.DataSeed()}, Workers: q.Threads, Noise: r.ReleaseSeed(),
		Release: func(_ context.Context, documents [][]int32, _ stream.Seed) ([][]int32, error) {
			return documents, nil
		}}
	if !r.IsBaseline() {
		m, err := r.Words(ctx)
		if err != nil {
			return nil, err
		}
		l = attack.NewLexicon(m.Vocabulary())
		attack.Attacked(&s, m, r.Policy, l)
	}
	for _, split := range r.Corpus.Splits() {
		s.Train = append(s.Train, l.Documents(split.Documents)...)
	}
	s.Embedding = l.Embedding(r.Space.Space)
	outcomes, err := attack.Audit(ctx, s)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	return list.Map(outcomes, func(x attack.Outcome) results.Row { return Attacked(row, x) }), nil
}
