package experiments

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// Cell is one cell of the grid and one repetition: a value. Equal cells over
// equal data give equal records, timing aside.
type Cell struct {
	Index           int                 `json:"-"` // position in the grid
	Seed            uint64              `json:"seed"`
	Dataset         DatasetSpec         `json:"dataset"`
	Embedding       string              `json:"embedding"`
	Dimension       int                 `json:"dimension"`
	Mechanism       mechanisms.Settings `json:"mechanism"` // Mechanism = results.BaselineMechanism, all else zero, for the baseline
	Policy          mechanisms.Policy   `json:"policy"`
	Model           string              `json:"model"`
	ModelParameters string              `json:"model_parameters"` // models.FormatParameters
	Setting         string              `json:"setting"`
	Repetition      int                 `json:"repetition"`
	Metrics         MetricOptions       `json:"metrics"`

	modelParameters map[string]any
}

// IsBaseline says whether the cell privatises nothing.
func (c Cell) IsBaseline() bool { return c.Mechanism.Mechanism == results.BaselineMechanism }

// Fingerprints identify the data that a cell sees.
type Fingerprints struct {
	Dataset   string `json:"dataset"`
	Embedding string `json:"embedding"`           // of the space restricted to the data set
	Thesaurus string `json:"thesaurus,omitempty"` // SynTF only
	Encoder   string `json:"encoder,omitempty"`   // where CS is measured
}

// Key names the cell's record: 16 hex digits of a hash over the cell's value,
// the fingerprints of its data and the versions of the schemas. A changed
// value is another cell; an unchanged one is never run again. The index and
// the study's name are not part of it.
func (c Cell) Key(f Fingerprints) string {
	canonical, err := json.Marshal(struct {
		Cell         Cell         `json:"cell"`
		Fingerprints Fingerprints `json:"fingerprints"`
		Study        int          `json:"study_schema"`
		Record       int          `json:"record_schema"`
	}{c, f, StudySchema, results.SchemaVersion})
	if err != nil {
		panic(fmt.Sprintf("experiments: cell is not JSON: %v", err)) // numbers and words only
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:8])
}

// identity is what the privatised text of a cell depends on beside the data
// and the repetition: neither model nor setting nor metric, so that cells
// share text and a change of what is measured does not change what is
// privatised.
func (c Cell) identity() []string {
	return []string{
		c.Dataset.Name, c.Embedding, strconv.Itoa(c.Dimension),
		c.Mechanism.Mechanism, string(c.Mechanism.Variant), c.Mechanism.Parameters.String(),
		strconv.FormatFloat(c.Mechanism.Epsilon, 'g', -1, 64),
	}
}

func (c Cell) root() stream.Seed { return stream.FromUint64(c.Seed) }

func (c Cell) derive(purpose string, labels ...string) stream.Seed {
	return c.root().Derive(append(append([]string{purpose}, labels...), c.identity()...)...)
}

// textSeed is the root of the noise in the text of all repetitions: document
// i of a data set of n documents (all splits) has the stream
// (repetition−1)·n + i. Repetitions can then be privatised in one pass.
func (c Cell) textSeed() stream.Seed { return c.derive("text") }

// repetitionSeed is the root of everything else that is random in applying
// the mechanism.
func (c Cell) repetitionSeed() stream.Seed { return c.derive("repetition", strconv.Itoa(c.Repetition)) }

// modelSeed is the root of everything random in training.
func (c Cell) modelSeed() stream.Seed {
	return c.derive("model", c.Model, c.ModelParameters, c.Setting, strconv.Itoa(c.Repetition))
}

// probeSeed chooses the words on which mechanisms are probed. It is the same
// for all mechanisms and epsilons, so that they are compared on equal words.
func (c Cell) probeSeed() stream.Seed {
	return c.root().Derive("probe", c.Dataset.Name, c.Embedding, strconv.Itoa(c.Dimension), strconv.Itoa(c.Repetition))
}

// group is a run of cells that share privatised text, or the tables that it is
// drawn from. It is the unit of work, of resume on one worker, and of sharding.
type group struct {
	index int // position among all groups of the grid
	cells []Cell
}

// sameGroup says whether two neighbouring cells belong together: one
// repetition of one mechanism, or all repetitions where they cost hardly more
// than one.
func sameGroup(a, b Cell) bool {
	if a.Policy != b.Policy || a.Seed != b.Seed || !slices.Equal(a.identity(), b.identity()) {
		return false
	}
	if a.Repetition == b.Repetition {
		return true
	}
	d, err := mechanisms.Find(a.Mechanism.Mechanism)
	return err == nil && d.PerWord
}

// Traits are the facts about a data set that decide which cells exist.
type Traits struct {
	Generated bool
	WordLevel bool
}

// Grid expands a study into cells, in the one order that every run, shard and
// merge agrees on: data set, embedding, dimension, baseline and mechanisms,
// epsilon, repetition, model, setting. Combinations that have no meaning are
// left out: a mechanism that releases vectors, and a data set of single
// words, feed linear models only.
func (s *Study) Grid(traits func(DatasetSpec) (Traits, error)) ([]Cell, error) {
	var cells []Cell
	add := func(c Cell) {
		c.Index = len(cells)
		cells = append(cells, c)
	}
	for _, d := range s.Datasets {
		t, err := traits(d)
		if err != nil {
			return nil, err
		}
		for _, e := range s.Embeddings {
			if len(e.Datasets) > 0 && !slices.Contains(e.Datasets, d.Name) {
				continue
			}
			if (e.Name == GeneratedEmbedding) != t.Generated {
				return nil, fmt.Errorf("study %s: data set %q with embedding %q: generated and real data are never mixed; restrict the embedding with its list of datasets", s.Name, d.Name, e.Name)
			}
			for _, dimension := range e.Dimensions {
				base := Cell{Seed: s.Seed, Dataset: d, Embedding: e.Name, Dimension: dimension, Policy: s.Policy, Metrics: s.Metrics}
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

// Cells is the number of cells of the study.
func (s *Study) Cells() (int, error) {
	cells, err := s.Grid(traits)
	return len(cells), err
}

func (s *Study) addBaselines(base Cell, t Traits, add func(Cell)) error {
	base.Mechanism = mechanisms.Settings{Mechanism: results.BaselineMechanism}
	base.Policy = ""
	base.Setting = Local
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

func (s *Study) addMechanisms(base Cell, t Traits, add func(Cell)) error {
	for _, spec := range s.Mechanisms {
		settings, err := s.expandMechanism(spec)
		if err != nil {
			return err
		}
		epsilons := spec.Epsilons
		if len(epsilons) == 0 {
			epsilons = s.Epsilons
		}
		for _, m := range settings {
			definition, err := mechanisms.Find(m.Mechanism)
			if err != nil {
				return err
			}
			for _, epsilon := range epsilons {
				m.Epsilon = epsilon
				base.Mechanism = m
				for r := range s.Repetitions {
					base.Repetition = r + 1
					for _, model := range s.Models {
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

// withModel completes a cell with a model; ok is false where the model cannot
// read what the cell has.
func (s *Study) withModel(c Cell, m ModelSpec, t Traits, vectors bool) (_ Cell, ok bool, err error) {
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
	if vectors && c.Setting != Local {
		return c, false, nil // a projected vector and a plain one have different lengths
	}
	c.Model = d.Name
	c.modelParameters, err = d.Resolve(m.Parameters)
	c.ModelParameters = models.FormatParameters(c.modelParameters)
	return c, err == nil, err
}

// groups joins neighbouring cells that share text.
func groups(cells []Cell) []group {
	var all []group
	for _, c := range cells {
		if n := len(all); n > 0 && sameGroup(all[n-1].cells[0], c) {
			all[n-1].cells = append(all[n-1].cells, c)
			continue
		}
		all = append(all, group{index: len(all), cells: []Cell{c}})
	}
	return all
}
