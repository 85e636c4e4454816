package attacks

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

// released is one release to be attacked: a mechanism at one ε, one repetition.
type released struct {
	study      *Study
	lab        *lab.Lab
	scene      Scene
	settings   mechanisms.Settings
	definition mechanisms.Definition
	repetition int
	options    attack.Options
}

// Plan turns the study into units, one per attacker and release. It opens nothing.
func (s *Study) Plan(l *lab.Lab) ([]engine.Unit, error) {
	options, encoded, err := s.options()
	if err != nil {
		return nil, err
	}
	settings, err := s.mechanisms()
	if err != nil {
		return nil, err
	}
	var units []engine.Unit
	for _, c := range s.Scenes {
		for _, x := range settings {
			d, err := x.Definition()
			if err != nil {
				return nil, err
			}
			for r := range s.Repetitions {
				at := released{s, l, c, x, d, r + 1, options}
				panels := map[string]string{} // by ID
				for _, panel := range s.panels(c, x) {
					u := at.unit(panel, encoded)
					panels[u.ID] = panel
					u.Run = func(ctx context.Context, job *engine.Job) (engine.Output, error) {
						return at.run(ctx, panel, panels, job)
					}
					units = append(units, u)
				}
			}
		}
	}
	return units, nil
}

func (at released) unit(panel string, options json.RawMessage) engine.Unit {
	row, s, c := at.row(panel), at.study, at.scene
	place := []any{Protocol, s.Seed, c.Dataset, c.Shadow, c.Embedding.Name, c.Embedding.Dimensions,
		study.Labels(at.settings),
		s.Policy, at.repetition}
	id := append(slices.Clone(place), panel, options)
	encoder := false
	switch panel {
	case Utility:
		parameters, _ := c.Utility.Resolve() // checked
		id = append(id, c.Utility.Name, parameters)
		if encoder = c.Probe; encoder {
			id = append(id, "probe")
		}
	case Language:
	default:
		d, _ := attack.Find(panel) // checked
		encoder = slices.Contains(d.Needs, attack.NeedsEncoder)
	}
	name := fmt.Sprintf("%s, %s: %s", c.Dataset.Name, panel, row.Series)
	if row.X.Known() {
		name += fmt.Sprintf(" ε=%v", at.settings.Epsilon)
	}
	return engine.Unit{
		Name: fmt.Sprintf("%s, repetition %d", name, at.repetition), ID: engine.MakeID(id...),
		Group: engine.MakeID(place...), Row: row,
		Data: func(ctx context.Context) (map[string]string, error) {
			f, err := at.lab.OfText(ctx, at.sample(), c.Embedding, c.Embedding.Dimensions[0], at.definition.Needs)
			if err == nil {
				err = at.lab.OfOutside(ctx, at.settings, c.Dataset, f)
			}
			if err == nil && encoder {
				f["encoder"], err = at.lab.OfEncoder(s.Encoder)
			}
			if err == nil && panel == Language && c.Embedding.Name != study.GeneratedEmbedding {
				f["wordnet"], err = at.lab.OfTagger()
			}
			return f, err
		},
		Cost: func() engine.Cost {
			w := at.lab.Reading(at.sample(), c.Embedding.Dimensions[0])
			w.Trainings, w.Private = 1, w.Tokens
			return at.lab.Cost(row, w)
		},
		Memory: func() int64 { return at.settings.Memory() + at.lab.Memory(at.sample(), "") },
	}
}

// row returns the initial row of a unit. It has no ε for a mechanism on which ε
// has no effect.
func (at released) row(panel string) results.Record {
	r, x, c := results.NewRecord(), at.settings, at.scene
	r.Dataset, r.Embedding, r.Dimension = c.Dataset.Name, c.Embedding.Name, c.Embedding.Dimensions[0]
	r.Mechanism, r.Variant, r.Parameters = x.Mechanism, string(x.Variant), x.Parameters.String()
	r.Panel, r.Series, r.XName = panel, label(at.study.Mechanisms, at.definition, x), "epsilon"
	if !at.definition.Constant {
		r.Epsilon, r.X = results.Float(x.Epsilon), results.Float(x.Epsilon)
	}
	if panel == Utility {
		r.Model = c.Utility.Name
	}
	r.Repetition, r.Seed = at.repetition, at.study.Seed
	if x.Outside == nil { // otherwise it handles unknown words itself
		r.Policy = string(at.study.Policy)
	}
	r.Status = results.StatusOK
	return r
}

// label returns the name of a mechanism in figures: the study's name, with
// parameters and variant where several share that name.
func label(list []study.MechanismSpec, d mechanisms.Definition, x mechanisms.Settings) string {
	name, several := d.Title, 0
	for _, m := range list {
		if m.Name != x.Mechanism {
			continue
		}
		settings, _ := m.Expand() // checked
		several += len(settings)
		if m.Label != "" {
			name = m.Label
		}
	}
	if x.Variant != mechanisms.Proved && d.Variants[0] != x.Variant {
		name += " (" + string(x.Variant) + ")"
	}
	if several > 1 {
		name += " " + x.Parameters.String()
	}
	return name
}

func (at released) root() stream.Seed { return stream.FromUint64(at.study.Seed).Derive(Protocol) }

func (at released) sample() lab.Sample {
	return lab.Sample{Dataset: at.scene.Dataset, Seed: at.root().Derive("dataset")}
}

// dataSeed is the seed of everything that does not depend on the mechanism.
func (at released) dataSeed() stream.Seed {
	c := at.scene
	return at.root().Derive("data", c.Dataset.Name, c.Embedding.Name, strconv.Itoa(c.Embedding.Dimensions[0]),
		strconv.Itoa(at.repetition))
}

// seed is the seed of the release and of attacks on it.
func (at released) seed() stream.Seed {
	return at.dataSeed().Derive("release").Derive(study.Labels(at.settings)...)
}
