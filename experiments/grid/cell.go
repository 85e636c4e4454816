package grid

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// Cell is one cell of the grid and one repetition: a value. Equal cells over
// equal data give equal records, except for timing.
type Cell struct {
	Seed      uint64              `json:"seed"`
	Dataset   study.DatasetSpec   `json:"dataset"`
	Documents string              `json:"documents,omitempty"` // study.Redrawn, or empty
	Embedding study.EmbeddingSpec `json:"-"`                   // its name is in Name
	Name      string              `json:"embedding"`
	Dimension int                 `json:"dimension"`
	// Mechanism = results.BaselineMechanism and everything else zero for the
	// baseline
	Mechanism       mechanisms.Settings `json:"mechanism"`
	Policy          mechanisms.Policy   `json:"policy"`
	OwnPolicy       bool                `json:"own_policy,omitempty"` // not the study's, so listed among the parameters
	KeepWords       string              `json:"keep_words,omitempty"` // list of words published unchanged
	Model           string              `json:"model,omitempty"`      // empty where nothing is trained
	ModelParameters string              `json:"model_parameters"`     // models.FormatParameters
	Setting         string              `json:"setting"`
	Repetition      int                 `json:"repetition"`
	Metrics         study.MetricOptions `json:"metrics"`

	modelParameters map[string]any
}

// IsBaseline reports whether the cell privatises nothing.
func (c Cell) IsBaseline() bool { return c.Mechanism.Mechanism == results.BaselineMechanism }

// id returns everything that the cell's records depend on except its data.
// Neither its position nor the name of the study is part of it.
func (c Cell) id() string {
	c.Name = c.Embedding.Name
	return engine.MakeID(study.Grid, c)
}

// sample returns the data set that the cell reads.
func (c Cell) sample() lab.Sample {
	s := lab.Sample{Dataset: c.Dataset, Seed: c.root().Derive("dataset")}
	if c.Documents == study.Redrawn {
		s.Seed = c.root().Derive("dataset", "repetition", strconv.Itoa(c.Repetition))
	}
	return s
}

// needs returns the needs of the cell's mechanism.
func (c Cell) needs() mechanisms.Needs {
	d, _ := c.Mechanism.Definition() // the baseline has none
	return d.Needs
}

// kept returns the words that the cell's mechanism publishes unchanged.
func (c Cell) kept() []string { return study.MechanismSpec{KeepWords: c.KeepWords}.Kept() }

// identity returns everything that the privatised text of a cell depends on
// except the data and the repetition. Model, setting and metrics are not part
// of it, so cells share text, and a change of the metrics does not change the
// text.
func (c Cell) identity() []string {
	return append([]string{c.Dataset.Name, c.Embedding.Name, strconv.Itoa(c.Dimension)}, study.Labels(c.Mechanism)...)
}

func (c Cell) root() stream.Seed { return stream.FromUint64(c.Seed) }

func (c Cell) derive(purpose string, labels ...string) stream.Seed {
	return c.root().Derive(append(append([]string{purpose}, labels...), c.identity()...)...)
}

// textSeed is the root of the noise in the text of all repetitions: document i
// of a data set of n documents (all splits) uses the stream (repetition−1)·n +
// i. Repetitions can thus be privatised in one pass.
func (c Cell) textSeed() stream.Seed { return c.derive("text") }

// repetitionSeed is the root of all other randomness in applying the mechanism.
func (c Cell) repetitionSeed() stream.Seed { return c.derive("repetition", strconv.Itoa(c.Repetition)) }

// modelSeed is the root of all randomness in training. Local and train-only
// train on the same text: they are one model, tested on two texts.
func (c Cell) modelSeed() stream.Seed {
	setting := c.Setting
	if setting == study.TrainOnly {
		setting = study.Local
	}
	return c.derive("model", c.Model, c.ModelParameters, setting, strconv.Itoa(c.Repetition))
}

// probeSeed chooses the words on which mechanisms are probed. It is the same
// for all mechanisms and epsilons, so they are compared on equal words.
func (c Cell) probeSeed() stream.Seed {
	return c.root().Derive("probe", c.Dataset.Name, c.Embedding.Name, strconv.Itoa(c.Dimension),
		strconv.Itoa(c.Repetition))
}

// parameters returns those of the mechanism, and what else distinguishes two
// entries of it in tables: a separate policy and the words that it keeps.
func (c Cell) parameters() string {
	parts := []string{c.Mechanism.Parameters.String()}
	if c.KeepWords != "" {
		parts = append(parts, "keep_words="+c.KeepWords)
	}
	if c.OwnPolicy {
		parts = append(parts, "policy="+string(c.Policy))
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}

// group returns the name of the cells that share privatised text or the tables
// it is drawn from: one repetition of one mechanism, or all repetitions where
// they cost little more than one.
func (c Cell) group() string {
	labels := append(c.identity(), string(c.Policy))
	if c.KeepWords != "" {
		labels = append(labels, c.KeepWords)
	}
	if d, err := c.Mechanism.Definition(); err != nil || !d.PerWord || c.Documents == study.Redrawn {
		labels = append(labels, strconv.Itoa(c.Repetition))
	}
	return engine.MakeID(labels)
}

// measuresCS reports whether CS is measured in a cell. Only training costs
// more, so a study may limit CS to the first repetitions and to some settings.
func (c Cell) measuresCS() bool {
	o := c.Metrics.CS
	return o.Documents > 0 && !c.IsBaseline() && (o.Repetitions == 0 || c.Repetition <= o.Repetitions) &&
		(len(o.Settings) == 0 || slices.Contains(o.Settings, c.Setting))
}

// Cells expands a study into cells, in the one order that every run, shard and
// merge agrees on: data set, embedding, dimension, baseline and mechanisms,
// epsilon, repetition, model, setting. Combinations that have no meaning are
// left out: a mechanism that releases vectors, and a data set of single words,
// are used with linear models only.
func (s *Study) Cells() ([]Cell, error) {
	var cells []Cell
	add := func(c Cell) { cells = append(cells, c) }
	for _, d := range s.Datasets {
		t, err := d.Traits()
		if err != nil {
			return nil, err
		}
		for _, e := range s.Embeddings {
			if len(e.Datasets) > 0 && !slices.Contains(e.Datasets, d.Name) {
				continue
			}
			if (e.Name == study.GeneratedEmbedding) != t.Generated {
				return nil, fmt.Errorf("study %s: data set %q with embedding %q: generated and real data are never "+
					"mixed; restrict the embedding with its list of datasets", s.Name, d.Name, e.Name)
			}
			for _, dimension := range e.Dimensions {
				base := Cell{Seed: s.Seed, Dataset: d, Embedding: e, Dimension: dimension, Policy: s.Policy,
					Metrics: s.Metrics}
				if s.Documents == study.Redrawn {
					base.Documents = s.Documents
				}
				if err := s.addBaselines(base, t, add); err != nil {
					return nil, err
				}
				if err := s.addMechanisms(base, t, add); err != nil {
					return nil, err
				}
			}
		}
	}
	if len(cells) == 0 {
		return nil, fmt.Errorf("study %s: no combination of data set, embedding, mechanism and model is left", s.Name)
	}
	return cells, nil
}

func (s *Study) addBaselines(base Cell, t study.Traits, add func(Cell)) error {
	base.Mechanism = mechanisms.Settings{Mechanism: results.BaselineMechanism}
	base.Policy = ""
	base.Setting = study.Local
	for r := range s.BaselineRepetitions {
		base.Repetition = r + 1
		for _, m := range s.Models {
			if c, ok, err := s.withModel(base, m, t, false); err != nil {
				return err
			} else if ok {
				add(c)
			}
		}
	}
	return nil
}

func (s *Study) addMechanisms(base Cell, t study.Traits, add func(Cell)) error {
	for _, spec := range s.Mechanisms {
		settings, err := spec.Expand()
		if err != nil {
			return err
		}
		epsilons := spec.Epsilons
		if len(epsilons) == 0 {
			epsilons = s.Epsilons
		}
		for _, m := range settings {
			definition, err := m.Definition()
			if err != nil {
				return err
			}
			base := base
			if m.Outside != nil {
				base.Policy = "" // it handles unknown words itself
			}
			base.KeepWords = spec.KeepWords
			if base.OwnPolicy = spec.Policy != "" && spec.Policy != s.Policy; base.OwnPolicy {
				base.Policy = spec.Policy
			}
			if definition.NewVector != nil && (base.Policy == mechanisms.Zero || base.KeepWords != "") {
				continue // there are no words to keep or to replace by zero: these entries are left out
			}
			for _, epsilon := range epsilons {
				m.Epsilon = epsilon
				base.Mechanism = m
				for r := range min(s.Repetitions, cmp.Or(spec.Repetitions, s.Repetitions)) {
					base.Repetition = r + 1
					for _, model := range s.models() {
						for _, setting := range s.Settings {
							base.Setting = setting
							if c, ok, err := s.withModel(base, model, t, definition.NewVector != nil); err != nil {
								return err
							} else if ok {
								add(c)
							}
						}
					}
				}
			}
		}
	}
	return nil
}

// models returns those of the study, or one empty model for measurements
// without a model.
func (s *Study) models() []study.ModelSpec {
	if len(s.Models) == 0 {
		return []study.ModelSpec{{}}
	}
	return s.Models
}

// withModel completes a cell with a model; ok is false where the model cannot
// read the cell's data.
func (s *Study) withModel(c Cell, m study.ModelSpec, t study.Traits, vectors bool) (_ Cell, ok bool, err error) {
	if m.Name == "" {
		return c, !vectors, nil // released vectors can only be measured with a model
	}
	if len(m.Datasets) > 0 && !slices.Contains(m.Datasets, c.Dataset.Name) {
		return c, false, nil
	}
	d, err := models.Find(m.Name)
	if err != nil {
		return c, false, err
	}
	if (t.WordLevel || vectors) && !d.Vectors {
		return c, false, nil
	}
	if vectors && c.Setting != study.Local {
		return c, false, nil // a projected vector and a plain one have different lengths
	}
	c.Model = d.Name
	c.modelParameters, err = d.Resolve(m.Parameters)
	c.ModelParameters = models.FormatParameters(c.modelParameters)
	return c, err == nil, err
}

// String returns the name of a cell for people.
func (c Cell) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s %dd, ", c.Dataset.Name, c.Embedding.Name, c.Dimension)
	if c.IsBaseline() {
		b.WriteString("baseline")
	} else {
		b.WriteString(c.Mechanism.Mechanism)
		if c.Mechanism.Variant != "" {
			fmt.Fprintf(&b, " (%s)", c.Mechanism.Variant)
		}
		if p := c.parameters(); p != "" {
			fmt.Fprintf(&b, " %s", p)
		}
		fmt.Fprintf(&b, " ε=%v", c.Mechanism.Epsilon)
	}
	if c.Model != "" {
		fmt.Fprintf(&b, ", %s", c.Model)
	}
	if c.Setting != study.Local {
		fmt.Fprintf(&b, ", %s", c.Setting)
	}
	fmt.Fprintf(&b, ", repetition %d", c.Repetition)
	return b.String()
}
