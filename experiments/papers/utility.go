package papers

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"mldpbench/datasets"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// Which texts a curve of a utility panel privatises.
const (
	atTraining = "train" // training and validation texts; the test text stays plain
	atTest     = "test"  // the test text only
	atBoth     = "both"
)

// utilityPanel is test accuracy against ε: Feyisetan et al. 2020, Figure 5,
// and Carvalho et al. 2023, Figure 1a.
type utilityPanel struct {
	Name      string        `yaml:"name"`
	Dataset   DatasetSpec   `yaml:"dataset"`
	Embedding EmbeddingSpec `yaml:"embedding"`
	Model     ModelSpec     `yaml:"model"`
	Epsilons  []float64     `yaml:"epsilons"`
	Privatize []string      `yaml:"privatize"` // train, test, both: one curve each
	Trials    int           `yaml:"trials"`
	// Membership also attacks the model. Training and test texts are then
	// halved: one half for the model, one for the attacker's shadow model.
	Membership bool `yaml:"membership,omitempty"`
}

func (p utilityPanel) check() error {
	for _, err := range []error{
		p.Dataset.check(), p.Embedding.check(), p.Model.check(), checkEpsilons(p.Epsilons), check.AtLeast("trials", p.Trials, 1),
	} {
		if err != nil {
			return err
		}
	}
	if p.Name == "" || len(p.Privatize) == 0 {
		return fmt.Errorf("panel %q: needs a name and at least one of privatize: train, test, both", p.Name)
	}
	for _, at := range p.Privatize {
		if err := check.OneOf("privatize", at, atTraining, atTest, atBoth); err != nil {
			return err
		}
	}
	return nil
}

// utilityTask is an opened panel.
type utilityTask struct {
	panel   utilityPanel
	classes int
	table   table
	target  side
	shadow  side         // empty without Membership
	read    texts        // both, as they are
	plain   []plainModel // by trial
	seed    stream.Seed
}

// side is what one model is trained, validated and tested on.
type side struct{ train, validation, test []datasets.Document }

// encoded is a side as a classifier reads it.
type encoded struct{ train, validation, test models.Examples }

// texts are what the target model and the attacker's shadow model read.
type texts struct{ target, shadow encoded }

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

func (p utilityPanel) units(ctx context.Context, lab *Lab, curves []series, seed stream.Seed) ([]Unit, error) {
	seed = seed.Derive("utility", p.Name)
	d, err := p.Dataset.open(ctx, lab, seed)
	if err != nil {
		return nil, fmt.Errorf("panel %s: %w", p.Name, err)
	}
	space, err := p.Embedding.open(ctx, lab, inSet(counts(d)))
	if err != nil {
		return nil, fmt.Errorf("panel %s: %w", p.Name, err)
	}
	t := &utilityTask{panel: p, classes: len(d.Classes), table: newTable(space), seed: seed,
		plain: make([]plainModel, p.Trials), target: side{d.Train, d.Validation, d.Test}}
	if p.Membership {
		t.target, t.shadow = halve(d)
	}
	t.read = texts{t.encode(t.target), t.encode(t.shadow)}
	// A unit is one ε on one curve, whichever others the panel has.
	identity := p
	identity.Epsilons, identity.Privatize = nil, nil
	plain := series{label: "no privatisation"}
	units := []Unit{{
		Panel: p.Name, Series: plain.label, X: results.Missing,
		identity: []any{identity, d.Fingerprint, space.Fingerprint()},
		run: func(ctx context.Context) ([]results.Record, error) {
			base := row(p.Name, plain.label, "epsilon", results.Missing, space)
			base.Dataset, base.Mechanism = d.Name, results.BaselineMechanism
			return t.trials(ctx, nil, "", base, t.seed.Derive("plain"))
		},
	}}
	for _, c := range curves {
		for _, at := range p.Privatize {
			labelled := c
			if len(p.Privatize) > 1 {
				labelled.label += ", " + map[string]string{atTraining: "at training time", atTest: "at test time", atBoth: "at both times"}[at]
			}
			for _, epsilon := range c.over(p.Epsilons) {
				settings := c.at(epsilon)
				units = append(units, Unit{
					Panel: p.Name, Series: labelled.label, X: results.Float(epsilon),
					identity: []any{identity, at, settings, d.Fingerprint, space.Fingerprint()},
					run: func(ctx context.Context) ([]results.Record, error) {
						m, err := mechanisms.New(mechanisms.Environment{Space: space, Seed: seed}, settings)
						if err != nil {
							return nil, err
						}
						base := point(p.Name, labelled, m.Settings(), m.Guarantee(), space)
						base.Dataset = d.Name
						return t.trials(ctx, m, at, base, seed.Derive("private", fmt.Sprint(settings)))
					},
				})
			}
		}
	}
	return units, nil
}

// trials trains and tests; m is nil for plain text. The classifier of trial i
// starts from the same weights for every mechanism and ε.
func (t *utilityTask) trials(ctx context.Context, m mechanisms.Mechanism, at string, base results.Record, seed stream.Seed) ([]results.Record, error) {
	private, err := t.privatize(ctx, m, at, seed)
	if err != nil {
		return nil, err
	}
	var points []results.Record
	for trial := range t.panel.Trials {
		seed := t.seed.Derive("model").At(uint64(trial))
		model, release, err := t.model(ctx, trial, m == nil || at == atTest, private[trial].target, seed.Derive("target"))
		if err != nil {
			return nil, err
		}
		measured, err := t.measure(ctx, model, private[trial], with(base, "", trial, 0), seed)
		release()
		if err != nil {
			return nil, err
		}
		points = append(points, measured...)
	}
	return points, nil
}

// measure tests the model of one trial, and attacks it if the panel says so.
// The attack is that of Carvalho et al. 2023, Appendix C: the shadow model is
// trained like the target, on texts of its own. Both are asked about plain
// texts, the ones a person would recognise as theirs: were they trained on?
func (t *utilityTask) measure(ctx context.Context, model models.Classifier, private texts, base results.Record, seed stream.Seed) ([]results.Record, error) {
	right, err := accuracy(ctx, model, private.target.test)
	if err != nil {
		return nil, err
	}
	points := []results.Record{with(base, "accuracy", base.Repetition, 100*right)}
	if !t.panel.Membership {
		return points, nil
	}
	imitation, err := t.train(ctx, private.shadow, seed.Derive("shadow"))
	if err != nil {
		return nil, err
	}
	scores, member, err := models.MembershipInference(ctx,
		models.Membership{Model: imitation, Members: t.read.shadow.train, Others: t.read.shadow.test},
		models.Membership{Model: model, Members: t.read.target.train, Others: t.read.target.test},
		seed.Derive("attack"))
	if err != nil {
		return nil, err
	}
	auc, err := metrics.AUC(scores, member)
	if err != nil {
		return nil, err
	}
	return append(points, with(base, "mia_auc", base.Repetition, auc)), nil
}

// plainModel is one trial's model of plain training text: the same for every
// unit that privatises none of it. The lock is held while it is trained and
// asked.
type plainModel struct {
	sync.Mutex
	fitted models.Classifier
}

// model returns the model of a trial, trained on s, and what to call when it is
// done with. plain says that nothing has been privatised in what it learns from.
func (t *utilityTask) model(ctx context.Context, trial int, plain bool, s encoded, seed stream.Seed) (models.Classifier, func(), error) {
	if !plain {
		c, err := t.train(ctx, s, seed)
		return c, func() {}, err
	}
	p := &t.plain[trial]
	p.Lock()
	if p.fitted == nil {
		c, err := t.train(ctx, s, seed)
		if err != nil {
			p.Unlock()
			return nil, nil, err
		}
		p.fitted = c
	}
	return p.fitted, p.Unlock, nil
}

func (t *utilityTask) train(ctx context.Context, s encoded, seed stream.Seed) (models.Classifier, error) {
	return t.panel.Model.train(ctx, t.classes, t.table.embedding, seed, s.train, s.validation)
}

// encode reads a side as it is, without privatisation.
func (t *utilityTask) encode(s side) encoded {
	examples := func(documents []datasets.Document) models.Examples {
		return t.table.examples(datasets.Tokens(documents), datasets.Labels(documents))
	}
	return encoded{examples(s.train), examples(s.validation), examples(s.test)}
}

// privatize returns the texts of each trial: the plain ones, with those that m
// is meant to have replaced. All trials go to m at once, because the selection
// family makes one table per distinct word of what it is given.
func (t *utilityTask) privatize(ctx context.Context, m mechanisms.Mechanism, at string, seed stream.Seed) ([]texts, error) {
	private := slices.Repeat([]texts{t.read}, t.panel.Trials)
	if m == nil {
		return private, nil
	}
	var documents [][]string
	var parts []*models.Examples // that take their share of documents, in this order
	add := func(d []datasets.Document, x *models.Examples) {
		documents, parts = append(documents, datasets.Tokens(d)...), append(parts, x)
	}
	for i := range private {
		target, shadow := &private[i].target, &private[i].shadow
		if at != atTest {
			add(t.target.train, &target.train)
			add(t.target.validation, &target.validation)
			add(t.shadow.train, &shadow.train)
			add(t.shadow.validation, &shadow.validation)
		}
		if at != atTraining {
			add(t.target.test, &target.test)
		}
	}
	noisy, err := mechanisms.Text(ctx, m, mechanisms.Keep, documents, seed.Derive("text"), 1)
	if err != nil {
		return nil, err
	}
	for _, x := range parts {
		n := len(x.Labels)
		*x = t.table.examples(noisy[:n], x.Labels)
		noisy = noisy[n:]
	}
	return private, nil
}
