package papers

import (
	"context"
	"errors"
	"slices"

	"mldpbench/datasets"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// utilityPanel is test accuracy against ε: Feyisetan et al. 2020, Figure 5,
// and Carvalho et al. 2023, Figure 1a.
type utilityPanel struct {
	Name        string              `yaml:"name"`
	Dataset     study.DatasetSpec   `yaml:"dataset"`
	Embedding   study.EmbeddingSpec `yaml:"embedding"`
	Model       study.ModelSpec     `yaml:"model"`
	Epsilons    []float64           `yaml:"epsilons"`
	Settings    []string            `yaml:"settings"` // one curve per entry
	Repetitions int                 `yaml:"repetitions" limits:"1,10000"`
	// Membership also attacks the model. Training and test texts are then
	// halved: one half for the model, one for the attacker's shadow model.
	Membership bool `yaml:"membership,omitempty"`
}

func (p utilityPanel) name() string { return p.Name }

func (p *utilityPanel) check(at study.At, where string) error {
	if err := checkPlace(at, where, p.Name, &p.Embedding, p.Epsilons); err != nil {
		return err
	}
	if err := checkData(at, where, p.Dataset, &p.Model); err != nil {
		return err
	}
	if err := errors.Join(number(at, where, "repetitions", p.Repetitions, 1),
		needEpsilons(at, where, p.Epsilons)); err != nil {
		return err
	}
	if len(p.Settings) == 0 {
		return at(errors.New("settings: at least one of local, train-only, test-only"), "%s.settings", where)
	}
	for i, v := range p.Settings {
		if err := check.OneOf("setting", v, study.Local, study.TrainOnly, study.TestOnly); err != nil {
			return at(err, "%s.settings[%d]", where, i)
		}
	}
	return nil
}

func wantsOfUtility(panels []utilityPanel) (w lab.Wants) {
	for _, p := range panels {
		w.Datasets, w.Embeddings = append(w.Datasets, p.Dataset), append(w.Embeddings, p.Embedding)
	}
	return w
}

// utilityTask is an opened panel.
type utilityTask struct {
	panel  utilityPanel
	lab    *lab.Lab
	id     string // of everything its plain models depend on
	corpus *measure.Corpus
	space  *measure.Space
	target side
	shadow side  // empty without Membership
	read   texts // both, unchanged
	seed   stream.Seed
}

// side is the text on which one model is trained, validated and tested.
type side struct{ train, validation, test []datasets.Document }

// encoded is a side as a classifier reads it.
type encoded struct{ train, validation, test models.Examples }

// texts holds the texts of the target model and of the attacker's shadow model.
type texts struct{ target, shadow encoded }

// sharedTexts holds what the settings of one mechanism and ε share: text, and
// the models trained on it, by repetition.
type sharedTexts struct {
	private []texts
	fitted  []*measure.Trained
}

// halve gives every other document to each side. Sources are shuffled when
// they are sampled, so the halves are random and nearly balanced.
func halve(d *datasets.Dataset) (target, shadow side) {
	deal := func(documents []datasets.Document, a, b *[]datasets.Document) {
		for i, doc := range documents {
			if i%2 == 0 {
				*a = append(*a, doc)
			} else {
				*b = append(*b, doc)
			}
		}
	}
	deal(d.Train, &target.train, &shadow.train)
	deal(d.Validation, &target.validation, &shadow.validation)
	deal(d.Test, &target.test, &shadow.test)
	return target, shadow
}

func (p utilityPanel) sample(seed stream.Seed) lab.Sample {
	return lab.Sample{Dataset: p.Dataset, Seed: seed.Derive("dataset")}
}

func (p utilityPanel) open(ctx context.Context, at place, needs mechanisms.Needs) (*utilityTask, error) {
	id := engine.MakeID("utility", p.Name, p.Embedding.File, p.Embedding, p.Repetitions, model(p.Model), p.Membership,
		needs.Thesaurus)
	return lab.Once(at.lab, id, func() (*utilityTask, error) {
		corpus, err := at.lab.Corpus(ctx, p.sample(at.seed))
		if err != nil {
			return nil, err
		}
		space, err := at.lab.Space(ctx, p.sample(at.seed), p.Embedding, p.Embedding.Dimensions[0], needs.Thesaurus)
		if err != nil {
			return nil, err
		}
		t := &utilityTask{panel: p, lab: at.lab, id: id, corpus: corpus, space: space, seed: at.seed,
			target: side{corpus.Train, corpus.Validation, corpus.Test}}
		if p.Membership {
			t.target, t.shadow = halve(corpus.Dataset)
		}
		t.read = texts{t.encode(t.target), t.encode(t.shadow)}
		return t, nil
	})
}

// units returns one unit for plain text, and one per curve, setting and ε. A
// unit does not depend on which others the panel has.
func (p utilityPanel) units(at place, all []curve) []engine.Unit {
	id := []any{"utility", model(p.Model), p.Repetitions, p.Membership}
	work := func() lab.Work {
		w := at.lab.Reading(p.sample(at.seed), p.Embedding.Dimensions[0])
		w.Trainings = float64(p.Repetitions)
		training, testing := at.lab.Tokens(p.sample(at.seed))
		needed := study.Privatizes(p.Settings...)
		if needed[0] {
			w.Private += training * w.Trainings
		}
		if needed[2] {
			w.Private += testing * w.Trainings
		}
		return w
	}
	unit := func(c curve, setting string, s mechanisms.Settings) engine.Unit {
		row := c.ofText(s, p.Dataset, p.Embedding)
		row.Setting = setting
		row.Model, row.ModelParameters = p.Model.Name, models.FormatParameters(model(p.Model).Parameters)
		u := at.unit(row, append(slices.Clone(id), setting, study.Labels(s)),
			func(ctx context.Context) (lab.Fingerprints, error) {
				return at.lab.OfText(ctx, p.sample(at.seed), p.Embedding, p.Embedding.Dimensions[0], c.needs)
			}, work,
			func(ctx context.Context, row results.Record, job *engine.Job) ([]results.Record, error) {
				t, err := p.open(ctx, at, c.needs)
				if err != nil {
					return nil, err
				}
				row.DatasetFingerprint = t.corpus.Fingerprint
				row = on(row, t.space.Space)
				shared, ok := job.Shared.(*sharedTexts)
				if s.Mechanism == results.BaselineMechanism {
					return t.repetitions(ctx, setting, &sharedTexts{private: slices.Repeat([]texts{t.read},
						p.Repetitions)}, row)
				}
				m, err := at.wordsMechanism(t.space.Space, t.corpus, c, s.Epsilon)
				if err != nil {
					return nil, err
				}
				if !ok {
					private, err := t.privatize(ctx, m,
						at.seed.Derive(append([]string{"private"}, study.Labels(s)...)...), job.Threads)
					if err != nil {
						return nil, err
					}
					shared = &sharedTexts{private: private, fitted: make([]*measure.Trained, p.Repetitions)}
					job.Shared = shared
				}
				return t.repetitions(ctx, setting, shared, row.Promised(m.Guarantee()))
			})
		u.Group = engine.MakeID(at.panel, study.Labels(s))
		return u
	}
	units := []engine.Unit{unit(plain, "", plain.settings)}
	for _, c := range all {
		for _, epsilon := range c.over(p.Epsilons) {
			for _, setting := range p.Settings {
				labelled := c
				if len(p.Settings) > 1 {
					labelled.label += ", " + map[string]string{
						study.TrainOnly: "at training time", study.TestOnly: "at test time",
						study.Local: "at both times",
					}[setting]
				}
				units = append(units, unit(labelled, setting, c.at(epsilon)))
			}
		}
	}
	return units
}

// repetitions trains and tests; "" is the setting of plain text. The classifier
// of a repetition starts from the same weights for every mechanism and ε.
func (t *utilityTask) repetitions(ctx context.Context, setting string, shared *sharedTexts,
	base results.Record) ([]results.Record, error) {
	var rows []results.Record
	for r := range t.panel.Repetitions {
		seed := t.seed.Derive("model").At(uint64(r))
		read, private := t.read, shared.private
		if setting == study.Local || setting == study.TrainOnly {
			read.target.train, read.target.validation = private[r].target.train, private[r].target.validation
			read.shadow.train, read.shadow.validation = private[r].shadow.train, private[r].shadow.validation
		}
		if setting == study.Local || setting == study.TestOnly {
			read.target.test = private[r].target.test
		}
		var fitted *measure.Trained
		var err error
		if setting == "" || setting == study.TestOnly { // the same model for every unit that trains on plain text
			fitted, err = lab.Once(t.lab, engine.MakeID(t.id, "plain", r), func() (*measure.Trained, error) {
				return t.train(ctx, t.read.target, seed.Derive("target"))
			})
		} else if fitted = shared.fitted[r]; fitted == nil {
			fitted, err = t.train(ctx, read.target, seed.Derive("target"))
			shared.fitted[r] = fitted
		}
		if err != nil {
			return nil, err
		}
		measured, err := t.measure(ctx, fitted.Model, read, with(base, "", r+1, 0), seed)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// measure tests the model of one repetition, and attacks it if the panel has
// Membership. The attack is that of Carvalho et al. 2023, Appendix C: the
// shadow model is trained like the target, on different texts. Both are queried
// with plain texts, which a person would recognise as theirs: were they trained
// on?
func (t *utilityTask) measure(ctx context.Context, model models.Classifier, read texts, base results.Record,
	seed stream.Seed) ([]results.Record, error) {
	s, err := measure.Test(ctx, model, len(t.corpus.Classes), read.target.test)
	if err != nil {
		return nil, err
	}
	rows := []results.Record{with(base, "accuracy", base.Repetition, 100*s.Accuracy())}
	if !t.panel.Membership {
		return rows, nil
	}
	imitation, err := t.train(ctx, read.shadow, seed.Derive("shadow"))
	if err != nil {
		return nil, err
	}
	scores, member, err := models.MembershipInference(ctx,
		models.Membership{Model: imitation.Model, Members: t.read.shadow.train, Others: t.read.shadow.test},
		models.Membership{Model: model, Members: t.read.target.train, Others: t.read.target.test},
		seed.Derive("attack"))
	if err != nil {
		return nil, err
	}
	auc, err := metrics.AUC(scores, member)
	return append(rows, with(base, "mia_auc", base.Repetition, auc)), err
}

func (t *utilityTask) train(ctx context.Context, s encoded, seed stream.Seed) (*measure.Trained, error) {
	return measure.Train(ctx, model(t.panel.Model), len(t.corpus.Classes), t.space.Table, seed, s.train, s.validation)
}

// encode reads a side without privatisation.
func (t *utilityTask) encode(s side) encoded {
	examples := func(d []datasets.Document) models.Examples {
		return t.examples(datasets.Tokens(d), datasets.Labels(d))
	}
	return encoded{examples(s.train), examples(s.validation), examples(s.test)}
}

func (t *utilityTask) examples(tokens [][]string, labels []int) models.Examples {
	return models.Examples{Sequences: t.space.Wide.Vocabulary.Rows(tokens), Labels: labels}
}

// privatize returns the private texts of each repetition: the splits that some
// setting privatises, except the attacker's test text. All repetitions are
// passed to m at once, because the selection family makes one table per distinct
// word of its input.
func (t *utilityTask) privatize(ctx context.Context, m mechanisms.Mechanism, seed stream.Seed, threads int) ([]texts,
	error) {
	splits := study.Privatizes(t.panel.Settings...)
	var documents [][]string
	add := func(text []datasets.Document, needed bool) {
		if !needed { // empty, so that each document keeps its position and thus its stream
			documents = append(documents, make([][]string, len(text))...)
			return
		}
		documents = append(documents, datasets.Tokens(text)...)
	}
	add(t.target.train, splits[0])
	add(t.target.validation, splits[1])
	add(t.shadow.train, splits[0])
	add(t.shadow.validation, splits[1])
	add(t.target.test, splits[2])
	copies, err := measure.Privatize(ctx, m, mechanisms.Keep,
		slices.Repeat([][][]string{documents}, t.panel.Repetitions), len(documents), seed.Derive("text"), threads)
	if err != nil {
		return nil, err
	}
	private := slices.Repeat([]texts{t.read}, t.panel.Repetitions)
	for r, noisy := range copies {
		target, shadow := &private[r].target, &private[r].shadow
		for _, x := range []*models.Examples{&target.train, &target.validation, &shadow.train, &shadow.validation,
			&target.test} {
			n := len(x.Labels)
			*x = t.examples(noisy[:n], x.Labels)
			noisy = noisy[n:]
		}
	}
	return private, nil
}
