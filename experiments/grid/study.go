// Package grid plans the comparative study: every combination of data set,
// embedding, dimension, mechanism, ε, model and setting is a cell, and a cell
// and repetition is a unit.
//
// The result of a cell does not depend on which other cells the study has.
package grid

import (
	"errors"
	"fmt"
	"slices"

	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/models"
)

func init() { study.Register(study.Grid, func() study.Body { return &Study{} }) }

// Study is the body of a study of this protocol. The comments in the built-in
// files document it.
type Study struct {
	study.Header        `yaml:",inline"`
	Datasets            []study.DatasetSpec   `yaml:"datasets"`
	Embeddings          []study.EmbeddingSpec `yaml:"embeddings"`
	Mechanisms          []study.MechanismSpec `yaml:"mechanisms,omitempty"` // none: baselines only
	Epsilons            []float64             `yaml:"epsilons,omitempty"`
	Models              []study.ModelSpec     `yaml:"models,omitempty"` // none: nothing is trained
	Settings            []string              `yaml:"settings,omitempty"`
	Policy              mechanisms.Policy     `yaml:"policy,omitempty"`
	Repetitions         int                   `yaml:"repetitions,omitempty" limits:"1,10000"`
	BaselineRepetitions int                   `yaml:"baseline_repetitions,omitempty" limits:"1,10000"`
	Metrics             study.MetricOptions   `yaml:"metrics,omitempty"`
}

// Check validates every value and fills in defaults. It is idempotent.
func (s *Study) Check(at study.At) error {
	if len(s.Datasets) == 0 {
		return at(errors.New("datasets: must not be empty"), "datasets")
	}
	if len(s.Embeddings) == 0 {
		return at(errors.New("embeddings: must not be empty"), "embeddings")
	}
	if len(s.Mechanisms) == 0 && len(s.Models) == 0 {
		return at(errors.New("mechanisms and models: one of them must not be empty"), "mechanisms")
	}
	names := map[string]bool{}
	for i, d := range s.Datasets {
		if err := d.Check(); err != nil {
			return at(err, "datasets[%d].name", i)
		}
		if names[d.Name] {
			return at(fmt.Errorf("data set %q is given twice", d.Name), "datasets[%d].name", i)
		}
		names[d.Name] = true
	}
	known := func(of []string, format string, args ...any) error {
		for j, d := range of {
			if !names[d] {
				return at(fmt.Errorf("data set %q is not in the study", d), format+fmt.Sprintf(".datasets[%d]", j),
					args...)
			}
		}
		return nil
	}
	for i := range s.Embeddings {
		if err := s.Embeddings[i].Check(); err != nil {
			return at(err, "embeddings[%d]", i)
		}
		if err := known(s.Embeddings[i].Datasets, "embeddings[%d]", i); err != nil {
			return err
		}
	}
	if err := study.Epsilons(at, "epsilons", s.Epsilons); err != nil {
		return err
	}
	for i, m := range s.Mechanisms {
		if err := m.Check(at, fmt.Sprintf("mechanisms[%d]", i)); err != nil {
			return err
		}
		if len(m.Epsilons) == 0 && len(s.Epsilons) == 0 {
			return at(fmt.Errorf("%s: no epsilons, neither here nor in the study", m.Name), "mechanisms[%d]", i)
		}
	}
	if err := study.CheckTwice(at, s.Mechanisms, s.Epsilons); err != nil {
		return err
	}
	for i, m := range s.Models {
		if _, err := models.Find(m.Name); err != nil {
			return at(err, "models[%d].name", i)
		}
		if _, err := m.Resolve(); err != nil {
			return at(err, "models[%d]", i)
		}
		if err := known(m.Datasets, "models[%d]", i); err != nil {
			return err
		}
		for _, d := range s.Datasets {
			if len(m.Datasets) == 0 || slices.Contains(m.Datasets, d.Name) {
				if err := d.Predicts(); err != nil {
					return at(err, "models[%d]", i)
				}
			}
		}
	}
	if len(s.Settings) == 0 {
		s.Settings = []string{study.Local}
	}
	for i, v := range s.Settings {
		if err := check.OneOf("setting", v, study.Local, study.TrainOnly, study.TestOnly); err != nil {
			return at(err, "settings[%d]", i)
		}
	}
	for i, v := range s.Metrics.CS.Settings {
		if err := check.OneOf("setting", v, study.Local, study.TrainOnly, study.TestOnly); err != nil {
			return at(err, "metrics.cs.settings[%d]", i)
		}
	}
	if s.Policy == "" {
		s.Policy = mechanisms.Random
	}
	if err := mechanisms.CheckPolicy(s.Policy); err != nil {
		return at(err, "policy")
	}
	if s.Repetitions == 0 {
		s.Repetitions = 1
	}
	if s.BaselineRepetitions == 0 {
		s.BaselineRepetitions = s.Repetitions
	}
	for _, n := range []struct {
		name string
		v    int
	}{{"repetitions", s.Repetitions}, {"baseline_repetitions", s.BaselineRepetitions}} {
		if err := check.AtLeast(n.name, n.v, 1); err != nil {
			return at(err, "%s", n.name)
		}
	}
	return s.Metrics.Check(at)
}
