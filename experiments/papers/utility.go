package papers

import (
	"context"
	"fmt"

	"mldpbench/datasets"
	"mldpbench/internal/check"
	"mldpbench/internal/stream"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
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
	shadow  side // empty without Membership
	seed    stream.Seed
}

// side is what one model is trained, validated and tested on.
type side struct {
	name                    string
	train, validation, test []datasets.Document
}

// halve gives every other document to each side. Sources are shuffled when
// they are sampled, so the halves are random and nearly balanced.
func halve(d *datasets.Dataset) (target, shadow side) {
	target, shadow = side{name: "target"}, side{name: "shadow"}
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
		target: side{"target", d.Train, d.Validation, d.Test}}
	if p.Membership {
		t.target, t.shadow = halve(d)
	}
	plain := series{label: "no privatisation"}
	units := []Unit{{
		Panel: p.Name, Series: plain.label, X: results.Missing,
		identity: []any{p, d.Fingerprint, space.Fingerprint()},
		run: func(ctx context.Context) ([]results.Point, error) {
			base := results.Point{Panel: p.Name, Series: plain.label, XName: "epsilon", X: results.Missing, Epsilon: results.Missing,
				Dataset: d.Name, Generated: space.Generated, Embedding: space.Name, Dimension: space.Dimension, Mechanism: "none"}
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
					identity: []any{p, at, settings, d.Fingerprint, space.Fingerprint()},
					run: func(ctx context.Context) ([]results.Point, error) {
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
func (t *utilityTask) trials(ctx context.Context, m mechanisms.Mechanism, at string, base results.Point, seed stream.Seed) ([]results.Point, error) {
	var points []results.Point
	for trial := range t.panel.Trials {
		text, model := seed.At(uint64(trial)), t.seed.Derive("model").At(uint64(trial))
		target, err := t.train(ctx, t.target, m, at, text, model)
		if err != nil {
			return nil, err
		}
		test, err := t.privatize(ctx, t.target.test, m, at != atTraining, text.Derive("test"))
		if err != nil {
			return nil, err
		}
		right, err := accuracy(ctx, target, test)
		if err != nil {
			return nil, err
		}
		points = append(points, with(base, "accuracy", trial, 100*right))
		if t.panel.Membership {
			auc, err := t.attack(ctx, target, m, at, text, model)
			if err != nil {
				return nil, err
			}
			points = append(points, with(base, "mia_auc", trial, auc))
		}
	}
	return points, nil
}

// train fits the classifier of a side.
func (t *utilityTask) train(ctx context.Context, s side, m mechanisms.Mechanism, at string, text, model stream.Seed) (models.Classifier, error) {
	train, err := t.privatize(ctx, s.train, m, at != atTest, text.Derive(s.name, "train"))
	if err != nil {
		return nil, err
	}
	validation, err := t.privatize(ctx, s.validation, m, at != atTest, text.Derive(s.name, "validation"))
	if err != nil {
		return nil, err
	}
	return t.panel.Model.train(ctx, t.classes, t.table.embedding, model.Derive(s.name), train, validation)
}

// privatize encodes documents, after m has had them if it is meant to.
func (t *utilityTask) privatize(ctx context.Context, documents []datasets.Document, m mechanisms.Mechanism, meant bool, seed stream.Seed) (models.Examples, error) {
	tokens := datasets.Tokens(documents)
	if m != nil && meant {
		var err error
		if tokens, err = mechanisms.Text(ctx, m, mechanisms.Keep, tokens, seed, 1); err != nil {
			return models.Examples{}, err
		}
	}
	return t.table.examples(tokens, datasets.Labels(documents)), nil
}

// attack is the membership inference of Carvalho et al. 2023, Appendix C: the
// shadow model is trained like the target, on texts of its own. Both are asked
// about plain texts, the ones a person would recognise as theirs: were they
// trained on?
func (t *utilityTask) attack(ctx context.Context, target models.Classifier, m mechanisms.Mechanism, at string, text, model stream.Seed) (float64, error) {
	shadow, err := t.train(ctx, t.shadow, m, at, text, model)
	if err != nil {
		return 0, err
	}
	plain := func(documents []datasets.Document) models.Examples {
		return t.table.examples(datasets.Tokens(documents), datasets.Labels(documents))
	}
	scores, member, err := models.MembershipInference(ctx,
		models.Membership{Model: shadow, Members: plain(t.shadow.train), Others: plain(t.shadow.test)},
		models.Membership{Model: target, Members: plain(t.target.train), Others: plain(t.target.test)},
		model.Derive("attack"))
	if err != nil {
		return 0, err
	}
	return metrics.AUC(scores, member)
}
