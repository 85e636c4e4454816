package papers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"mldpbench/datasets"
	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// EmbeddingSpec names an embedding of the data folder or "generated", or a
// file.
type EmbeddingSpec struct {
	Name      string `yaml:"name"`
	File      string `yaml:"file,omitempty"`
	Dimension int    `yaml:"dimension,omitempty"`
}

func (e EmbeddingSpec) check() error {
	if e.Name == "" && e.File == "" {
		return fmt.Errorf("embedding: needs a name or a file")
	}
	return nil
}

func (e EmbeddingSpec) open(ctx context.Context, lab *Lab, keep func(string) bool) (*embeddings.Space, error) {
	ref := e.File
	if ref == "" {
		ref = e.Name
	}
	return experiments.OpenSpace(ctx, ref, e.Dimension, lab.Data, keep)
}

// DatasetSpec names a data set and its sample; sizes of 0 are its defaults.
type DatasetSpec struct {
	Name       string `yaml:"name"`
	Train      int    `yaml:"train,omitempty"`
	Validation int    `yaml:"validation,omitempty"`
	Test       int    `yaml:"test,omitempty"`
	MaxTokens  int    `yaml:"max_tokens,omitempty"`
	Cleaning   string `yaml:"cleaning,omitempty"`
}

func (d DatasetSpec) check() error {
	_, err := datasets.Find(d.Name)
	return err
}

func (d DatasetSpec) open(ctx context.Context, lab *Lab, seed stream.Seed) (*datasets.Dataset, error) {
	return datasets.Load(ctx, datasets.Request{
		Name: d.Name, Root: lab.Data,
		Sizes:     datasets.Sizes{Train: d.Train, Validation: d.Validation, Test: d.Test},
		MaxTokens: d.MaxTokens, Cleaning: datasets.Cleaning(d.Cleaning),
		Seed: seed.Derive("dataset"),
	})
}

// Curve is a mechanism; a parameter given as a list makes one curve each.
type Curve struct {
	Label      string             `yaml:"label,omitempty"` // how the paper calls it; "" means its settings
	Mechanism  string             `yaml:"mechanism"`
	Variant    mechanisms.Variant `yaml:"variant,omitempty"`
	Parameters map[string]any     `yaml:"parameters,omitempty"`
	Epsilons   []float64          `yaml:"epsilons,omitempty"` // instead of the panel's
}

// series is one curve with everything but its ε.
type series struct {
	label    string
	settings mechanisms.Settings
	epsilons []float64
}

func expand(curves []Curve) ([]series, error) {
	var all []series
	for _, c := range curves {
		combinations := []mechanisms.Parameters{{}}
		definition, err := mechanisms.Find(c.Mechanism)
		if err != nil {
			return nil, err
		}
		for _, p := range definition.Parameters { // in a fixed order
			v, given := c.Parameters[p.Name]
			if !given {
				continue
			}
			list, isList := v.([]any)
			if _, wantsList := p.Default.([]float64); !isList || wantsList {
				list = []any{v}
			}
			var next []mechanisms.Parameters
			for _, base := range combinations {
				for _, v := range list {
					with := mechanisms.Parameters{p.Name: v}
					for k, b := range base {
						with[k] = b
					}
					next = append(next, with)
				}
			}
			combinations = next
		}
		for name := range c.Parameters {
			if _, used := combinations[0][name]; !used {
				return nil, fmt.Errorf("%s: unknown parameter %q", c.Mechanism, name)
			}
		}
		for _, e := range c.Epsilons {
			if err := check.Positive("epsilon", e); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Mechanism, err)
			}
		}
		for _, p := range combinations {
			s, err := mechanisms.Complete(mechanisms.Settings{Mechanism: c.Mechanism, Variant: c.Variant, Epsilon: 1, Parameters: p})
			if err != nil {
				return nil, err
			}
			label := c.Label
			if label == "" {
				label = definition.Title
			}
			if s.Variant != mechanisms.Proved {
				label += " (" + string(s.Variant) + ")"
			}
			if len(combinations) > 1 {
				label += " " + p.String()
			}
			all = append(all, series{label, s, c.Epsilons})
		}
	}
	return all, nil
}

// at returns the settings at one ε.
func (s series) at(epsilon float64) mechanisms.Settings {
	set := s.settings
	set.Epsilon = epsilon
	return set
}

func (s series) over(epsilons []float64) []float64 {
	if len(s.epsilons) > 0 {
		return s.epsilons
	}
	return epsilons
}

func checkEpsilons(epsilons []float64) error {
	if len(epsilons) == 0 {
		return fmt.Errorf("epsilons: must not be empty")
	}
	for _, e := range epsilons {
		if err := check.Positive("epsilon", e); err != nil {
			return err
		}
	}
	return nil
}

// point is a row with everything that the mechanism determines filled in.
func point(panel string, s series, settings mechanisms.Settings, g mechanisms.Guarantee, space *embeddings.Space) results.Record {
	r := row(panel, s.label, "epsilon", results.Float(settings.Epsilon), space)
	r.Mechanism, r.Variant, r.Parameters = settings.Mechanism, string(settings.Variant), settings.Parameters.String()
	r.Epsilon = results.Float(settings.Epsilon)
	r.GuaranteeMetric, r.GuaranteeReason = g.Metric, g.Reason
	return r
}

// row is a row at one place of one curve, without a quantity.
func row(panel, series, xName string, x results.Float, space *embeddings.Space) results.Record {
	r := results.NewRecord()
	r.Panel, r.Series, r.XName, r.X, r.Status = panel, series, xName, x, results.StatusOK
	r.Generated, r.Embedding, r.Dimension = space.Generated, space.Name, space.Dimension
	return r
}

// with returns the point with a measured quantity.
func with(p results.Record, quantity string, repetition int, value float64) results.Record {
	p.Quantity, p.Repetition, p.Value = quantity, repetition, results.Float(value)
	return p
}

// draw adapts a mechanism and one generator to the samplers of metrics. It
// draws nothing once ctx is cancelled: ask ctx before using what was measured.
func draw(ctx context.Context, m mechanisms.Mechanism, rng *rand.Rand) func(dst, src []embeddings.WordID) {
	return func(dst, src []embeddings.WordID) {
		if ctx.Err() == nil {
			m.Privatize(dst, src, nil, rng)
		}
	}
}

// table turns a space into the frozen embedding of a classifier, with one zero
// row at the end for words outside, and encodes documents against it.
type table struct {
	space     *embeddings.Space
	embedding models.Embedding
}

func newTable(s *embeddings.Space) table {
	return table{s, models.Embedding{Dimension: s.Dimension, Vectors: s.Table()}}
}

func (t table) examples(tokens [][]string, labels []int) models.Examples {
	return models.Examples{Sequences: t.space.Vocabulary.Rows(tokens), Labels: labels}
}

// ModelSpec names a classifier.
type ModelSpec struct {
	Name       string         `yaml:"name"`
	Parameters map[string]any `yaml:"parameters,omitempty"`
}

func (m ModelSpec) check() error {
	_, err := m.resolve()
	return err
}

// resolve returns the parameters with their defaults.
func (m ModelSpec) resolve() (map[string]any, error) {
	d, err := models.Find(m.Name)
	if err != nil {
		return nil, err
	}
	return d.Resolve(m.Parameters)
}

// MarshalJSON writes the parameters with their defaults. Units are known by it,
// and one trained with other defaults is another unit.
func (m ModelSpec) MarshalJSON() ([]byte, error) {
	parameters, err := m.resolve()
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Name       string
		Parameters map[string]any
	}{m.Name, parameters})
}

// train fits the model.
func (m ModelSpec) train(ctx context.Context, classes int, e models.Embedding, seed stream.Seed, train, validation models.Examples) (models.Classifier, error) {
	c, err := models.New(m.Name, models.Options{Classes: classes, Embedding: e, Seed: seed, Parameters: m.Parameters})
	if err != nil {
		return nil, err
	}
	_, err = c.Fit(ctx, train, validation)
	return c, err
}

// accuracy is the share of examples that a classifier gets right.
func accuracy(ctx context.Context, c models.Classifier, x models.Examples) (float64, error) {
	predicted, err := c.Predict(ctx, x)
	if err != nil {
		return 0, err
	}
	correct, err := metrics.Correct(predicted, x.Labels)
	if err != nil {
		return 0, err
	}
	return float64(correct) / float64(len(x.Labels)), nil
}

// inSet makes a keep function for OpenSpace.
func inSet(words map[string]int) func(string) bool {
	return func(w string) bool { _, ok := words[w]; return ok }
}

// counts counts the tokens of all splits.
func counts(d *datasets.Dataset) map[string]int {
	n := map[string]int{}
	for _, split := range d.Splits() {
		for _, doc := range split.Documents {
			for _, t := range doc.Tokens {
				n[t]++
			}
		}
	}
	return n
}

func sortedNames(m map[string]float64) []string { return slices.Sorted(maps.Keys(m)) }
