package papers

import (
	"context"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

// auditor is the attacker of this panel.
const auditor = "auditor"

// auditorPanel is an auditor of a language model, against ε: Feyisetan et al.
// 2020, Tables 3 and 4. The data set has users.
type auditorPanel struct {
	Name      string              `yaml:"name"`
	Dataset   study.DatasetSpec   `yaml:"dataset"`
	Embedding study.EmbeddingSpec `yaml:"embedding"`
	Epsilons  []float64           `yaml:"epsilons"`
	Audit     attack.AuditOptions `yaml:"audit,omitempty"`
}

func (p auditorPanel) name() string { return p.Name }

func (p *auditorPanel) check(at study.At, where string) error {
	return first([]error{checkPlace(at, where, p.Name, &p.Embedding, p.Epsilons),
		needEpsilons(at, where, p.Epsilons), checkData(at, where, p.Dataset, nil)})
}

func (p auditorPanel) sample(at place) lab.Sample {
	return lab.Sample{Dataset: p.Dataset, Seed: at.seed.Derive("dataset")}
}

// units are one of the text as it was written, and one per curve and ε.
func (p auditorPanel) units(at place, all []curve) ([]engine.Unit, error) {
	options, err := attack.Options{Audit: p.Audit}.Complete()
	if err != nil {
		return nil, err
	}
	unit := func(c curve, s mechanisms.Settings) engine.Unit {
		return at.unit(c.ofText(s, p.Dataset, p.Embedding), []any{auditor, options.Audit, study.Labels(s)},
			func(ctx context.Context) (lab.Fingerprints, error) {
				return at.lab.OfText(ctx, p.sample(at), p.Embedding, p.Embedding.Dimensions[0], c.needs)
			},
			func() lab.Work {
				w := at.lab.Reading(p.sample(at), p.Embedding.Dimensions[0])
				w.Trainings, w.Private = float64(options.Audit.Shadows+1), w.Tokens
				return w
			},
			func(ctx context.Context, row results.Record, job *engine.Job) ([]results.Record, error) {
				return p.measure(ctx, row, at, c, s, options, job.Threads)
			})
	}
	units := []engine.Unit{unit(plain, plain.settings)}
	for _, c := range all {
		for _, epsilon := range c.over(p.Epsilons) {
			units = append(units, unit(c, c.at(epsilon)))
		}
	}
	return units, nil
}

// measure audits models of one text. Unknown words are replaced by random ones:
// kept, they would name their users.
func (p auditorPanel) measure(ctx context.Context, row results.Record, at place, c curve, settings mechanisms.Settings,
	o attack.Options, threads int) ([]results.Record, error) {
	corpus, err := at.lab.Corpus(ctx, p.sample(at))
	if err != nil {
		return nil, err
	}
	space, err := at.lab.Space(ctx, p.sample(at), p.Embedding, p.Embedding.Dimensions[0], c.needs.Thesaurus)
	if err != nil {
		return nil, err
	}
	row.DatasetFingerprint = corpus.Fingerprint
	row = on(row, space.Space)
	l := attack.NewLexicon(space.Vocabulary)
	s := attack.Situation{Options: o, DataSeed: at.seed, Workers: threads, Words: space.Len(),
		Seed: at.seed.Derive(append([]string{"private"}, study.Labels(settings)...)...),
		Release: func(_ context.Context, documents [][]int32, _ stream.Seed) ([][]int32, error) {
			return documents, nil
		}}
	var m mechanisms.Mechanism
	if settings.Mechanism != results.BaselineMechanism {
		if m, err = at.wordsMechanism(space.Space, corpus, c, settings.Epsilon); err != nil {
			return nil, err
		}
		l = attack.NewLexicon(m.Vocabulary())
		row = row.Promised(m.Guarantee())
	}
	for _, d := range slices.Concat(corpus.Train, corpus.Validation, corpus.Test) {
		s.Train = append(s.Train, attack.Document{Words: l.IDs(d.Tokens), User: d.User})
	}
	if m != nil {
		attack.Attacked(&s, m, space.Space, mechanisms.Random, l, false)
	}
	s.Embedding = l.Embedding(space.Space)
	outcomes, err := attack.Run(ctx, auditor, s)
	if err != nil {
		return nil, err
	}
	var rows []results.Record
	for _, o := range outcomes {
		rows = append(rows, measure.Attacked(with(row, "", 1, 0), o))
	}
	return rows, nil
}
