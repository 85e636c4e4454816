package experiments

import (
	"maps"

	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// phase is what an aligned run does at the ε that it has.
type phase int

const (
	searching phase = iota // only the quantity is measured, where its levels are looked for
	measuring              // all else is, around the levels
)

// at is the study with an entry for each setting of a mechanism on each data set: at
// the ε at which the quantity is looked for, a middle one of the study at first, or at
// those around the levels, where there are texts too, at the ε at which they were released.
func (a *aligning) at(phase phase) (*study.Study, error) {
	found := &study.Study{Header: a.Header}
	for _, p := range a.Parts() {
		var entries []study.MechanismSpec
		for _, m := range p.Mechanisms {
			entries = append(entries, a.entries(p, m, phase)...)
		}
		p.Mechanisms = entries
		p.Metrics = a.metrics(p.Metrics)
		found.Scenes = append(found.Scenes, p)
	}
	if len(a.Scenes) == 0 {
		found.Design = found.Scenes[0].Design
		found.Scenes = nil
	}
	return found, found.Check()
}

// metrics are those of a part of the study, and that of the quantity where it has one of its own.
func (a *aligning) metrics(given study.Metrics) study.Metrics {
	key := ""
	var options any
	switch {
	case a.levels.Quantity == quantity.UsualPrivacy():
		key = "inference_error"
		options = &measure.InferenceOptions{Samples: drawsOfError}
	case measure.IsGame(a.levels.Quantity):
		key = measure.Game
		options = &measure.GameOptions{}
	}
	if _, measured := given[key]; key == "" || measured {
		return given
	}
	all := study.Metrics{}
	maps.Copy(all, given)
	all[key] = options
	return all
}

// entries are those of a mechanism of a part of the study, one for each of its settings
// and data sets that has ε in a phase.
func (a *aligning) entries(p study.Scene, m study.MechanismSpec, phase phase) (entries []study.MechanismSpec) {
	if m.Text != "" {
		if phase == measuring {
			entries = append(entries, m)
		}
		return entries
	}
	sets := list.Map(p.Datasets, func(d study.DatasetSpec) string { return d.Name })
	if len(sets) == 0 { // words are measured
		sets = []string{""}
	}
	settings, _ := p.Expand(m)
	for _, x := range settings {
		for _, dataset := range sets {
			own := m
			own.Name = x.Mechanism
			own.Parameters = x.Parameters
			if !m.Is() {
				own.Variant = x.Variant
			}
			if dataset != "" {
				own.Datasets = []string{dataset}
			}
			spec := measure.Spec{
				Mechanism: x,
				KeepWords: m.KeepWords,
				Budget:    m.Budget,
				Label:     m.Label,
			}
			spec.Dataset.Name = dataset
			k := key(spec.Place())
			if a.searched[k] == nil {
				all := distinct(m.Over(p.Epsilons)...)
				a.searched[k] = []float64{all[len(all)/2]}
			}
			own.Epsilons = a.epsilons(k, phase)
			if len(own.Epsilons) > 0 && study.On(m.Datasets, dataset) {
				entries = append(entries, own)
			}
		}
	}
	return entries
}

// epsilons are those of a mechanism on a data set in a phase.
func (a *aligning) epsilons(k results.Place, phase phase) []float64 {
	if phase == measuring {
		return a.around[k]
	}
	return a.searched[k]
}
