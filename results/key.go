package results

import (
	"cmp"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// A Place is the key of a row: comparable, and all that two rows can differ in. Its
// projections keep some of its coordinates and empty the others, so that places which
// agree in these are equal (the idea of golang.org/x/perf/benchproc).

// Instance is a mechanism as configured, except for ε.
func (p Place) Instance() Place {
	return Place{
		Mechanism:  p.Mechanism,
		Variant:    p.Variant,
		Parameters: p.Parameters,
		Label:      p.Label,
	}
}

// Task is a classifier in a setting.
func (p Place) Task() Place {
	return Place{
		Model:           p.Model,
		ModelParameters: p.ModelParameters,
		Setting:         p.Setting,
	}
}

// Scene is where mechanisms are compared: a data set in a space, by a task.
func (p Place) Scene() Place {
	return Place{
		Dataset:         p.Dataset,
		Embedding:       p.Embedding,
		Dimension:       p.Dimension,
		Model:           p.Model,
		ModelParameters: p.ModelParameters,
		Setting:         p.Setting,
	}
}

// Group is what all repetitions of a cell share. Fingerprints are not part of it:
// documents may be drawn anew in each repetition, and Prepare has told different
// data apart by name.
func (p Place) Group() Place {
	p.Generated = false
	p.DatasetFingerprint = ""
	p.EmbeddingFingerprint = ""
	p.Vocabulary = 0
	p.TrainItems = 0
	p.TestItems = 0
	p.Cleaning = ""
	p.Repetition = 0
	p.Seed = 0
	return p
}

// Text is a place whatever the classifier: what was measured of the text is the
// same for all of them.
func (p Place) Text() Place {
	p.Model = ""
	p.ModelParameters = ""
	p.Setting = ""
	return p
}

// data is what makes numbers those of other data.
func (p Place) data() Place {
	return Place{
		Cleaning:   p.Cleaning,
		TrainItems: p.TrainItems,
		TestItems:  p.TestItems,
		Seed:       p.Seed,
	}
}

// named is a mechanism or a model among those that its name must tell apart.
type named struct{ base, variant, parameters string }

// shortest returns the shortest names that tell some apart: with the variant where
// several are there, and with those parameters that differ between the others alike.
func shortest(own named, all []named) string {
	name := own.base
	same := Where(all, func(o named) bool { return o.base == own.base })
	alike := Where(same, func(o named) bool { return o.variant == own.variant })
	usual := own.variant == string(mechanisms.Proved) || own.variant == string(mechanisms.External)
	if own.variant != "" && (!usual || len(alike) < len(same)) {
		name += ", " + own.variant
	}
	fields := list.Map(alike, func(o named) []string { return strings.Fields(o.parameters) })
	differ := Where(strings.Fields(own.parameters), func(part string) bool {
		return slices.ContainsFunc(fields, func(o []string) bool {
			return !slices.Contains(o, part)
		})
	})
	if len(differ) > 0 {
		name += ", " + symbols.Replace(strings.Join(differ, " "))
	}
	return name
}

// symbols are the symbols of parameters in the papers.
var symbols = strings.NewReplacer("gamma=", "γ=", "lambda=", "λ=", "beta=", "β=", "delta=", "δ=")

// called is the label of a mechanism, or its title.
func (p Place) called() string { return cmp.Or(p.Label, MechanismTitle(p.Mechanism)) }

// Names are the shortest printed names of the instances and tasks of some places.
// Tables, figures and pages all use them. Two mechanisms with one label have their own
// titles beside it.
func Names(places []Place) map[Place]string {
	names := map[Place]string{}
	instances := Distinct(places, Place.Instance)
	tasks := Distinct(places, Place.Task)
	called := map[string][]string{} // mechanisms by what they are called
	for _, p := range instances {
		name := p.called()
		if !slices.Contains(called[name], p.Mechanism) {
			called[name] = append(called[name], p.Mechanism)
		}
	}
	mechanism := func(p Place) named {
		name := p.called()
		if own := MechanismTitle(p.Mechanism); len(called[name]) > 1 && name != own {
			name += ", " + own
		}
		return named{name, p.Variant, p.Parameters}
	}
	model := func(p Place) named { return named{p.Model, "", p.ModelParameters} }
	mechanismsThere := list.Map(instances, mechanism)
	modelsThere := list.Map(tasks, model)
	for _, p := range instances {
		names[p] = shortest(mechanism(p), mechanismsThere)
	}
	for _, p := range tasks {
		if p == (Place{}) {
			continue // that of what has no model, and also the empty instance
		}
		if names[p] = shortest(model(p), modelsThere); p.Setting != "" {
			names[p] = strings.TrimSpace(names[p] + " (" + p.Setting + ")")
		}
	}
	return names
}

// MechanismTitle returns the printed name of a mechanism.
func MechanismTitle(name string) string {
	if name == BaselineMechanism {
		return "Baseline"
	}
	if d, err := mechanisms.Find(name); err == nil {
		return d.Title
	}
	return name
}

// Own reports whether a mechanism is of the user, not one that the program has.
func (p Place) Own() bool {
	_, err := mechanisms.Find(p.Mechanism)
	return (err != nil || p.Variant == string(mechanisms.External)) &&
		p.Mechanism != BaselineMechanism &&
		p.Mechanism != ""
}

// DatasetTitle returns the printed name of a data set.
func DatasetTitle(name string) string {
	own := unmarked(name)
	if d, err := datasets.Find(own); err == nil && d.Title != "" {
		return d.Title + name[len(own):]
	}
	return name
}
