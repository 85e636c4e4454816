// Package plan turns studies into units: scenes × data sets × spaces ×
// mechanisms × ε × repetitions are releases, and a release × a measurement is a
// unit. The result of a unit does not depend on which others the study has.
package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// unit is one measurement of one release.
type unit struct {
	spec        measure.Spec
	measurement *measure.Measurement
	query       measure.Query
	splits      [3]bool // that the scene privatises
	id, group   string
}

// Plan is a study divided into units. It has opened nothing.
type Plan struct {
	*study.Study
	lab   *lab.Lab // of Engine
	units []unit
	byID  map[string]int
}

// Engine is the plan for the engine, with the data of a lab.
func (p *Plan) Engine(l *lab.Lab) (*engine.Plan, error) {
	p.lab = l
	definition, err := p.YAML()
	e := &engine.Plan{
		Study:      p.Name,
		Task:       p.Task,
		Definition: string(definition),
		Schema:     study.Schema,
		Units:      make([]engine.Unit, len(p.units)),
		Data:       l.Descriptions,
		Unseen:     l.Unseen,
	}
	for i := range p.units {
		u := &p.units[i]
		e.Units[i] = p.unit(u)
		p.byID[u.id] = i
	}
	return e, err
}

// New divides a study into units.
func New(s *study.Study) (*Plan, error) {
	p := &Plan{Study: s, byID: map[string]int{}}
	for _, scene := range s.Parts() {
		p.scene(&scene)
	}
	if len(p.units) == 0 {
		return nil, fmt.Errorf("study %s: no combination of data set, embedding, mechanism and measurement is left",
			s.Name)
	}
	return p, nil
}

// Only keeps the units of private text that measure a quantity; all where none does
// so by itself.
func (p *Plan) Only(name string) {
	units := results.Where(p.units, func(u unit) bool {
		return !u.spec.IsBaseline() &&
			slices.ContainsFunc(u.measurement.Quantities, func(c quantity.Quantity) bool {
				return c.Name == name
			})
	})
	if len(units) > 0 {
		p.units = units
	}
}

// scene adds the units of a scene, in the one order that every run, shard and
// merge agrees on: data set, embedding, dimension, baseline and mechanisms,
// epsilon, repetition, measurement, model, setting.
func (p *Plan) scene(c *study.Scene) {
	asked := p.asked(c)
	sets := c.Datasets
	if len(sets) == 0 {
		sets = []study.DatasetSpec{{}}
	}
	for _, d := range sets {
		for _, e := range c.Embeddings {
			if !study.On(e.Datasets, d.Name) {
				continue
			}
			for _, dimension := range e.Dimensions {
				p.space(c, measure.Spec{
					Seed:      p.Seed,
					Streams:   p.Streams,
					Dataset:   d,
					Embedding: e,
					Vectors:   e.Name,
					Dimension: dimension,
					Documents: strings.TrimPrefix(p.Documents, study.Fixed),
				}, asked)
			}
		}
	}
}

// asked are the measurements of a scene with their options, as units without release, model and setting.
func (p *Plan) asked(c *study.Scene) (asked []unit) {
	for _, m := range measure.All() {
		options, ok := m.Asked(p.Study, c)
		if !ok {
			continue
		}
		several, many := options.(measure.Several)
		if !many {
			several = measure.Several{options}
		}
		for _, o := range several {
			asked = append(asked, unit{
				measurement: m,
				query:       measure.Query{Options: o},
				splits:      study.Privatizes(c.Settings...),
			})
		}
	}
	return asked
}

// space adds the units of a data set in a space.
func (p *Plan) space(c *study.Scene, s measure.Spec, asked []unit) {
	p.plain(c, s, asked)
	for _, m := range c.Mechanisms {
		if !study.On(m.Datasets, s.Dataset.Name) {
			continue
		}
		settings, _ := c.Expand(m)
		s.Policy = c.Policy
		s.KeepWords = m.KeepWords
		s.Budget = m.Budget
		for _, s.Mechanism = range settings {
			p.mechanism(c, s, asked, m)
		}
	}
}

// plain adds what is measured of a space alone, and of text that nobody
// privatised.
func (p *Plan) plain(c *study.Scene, s measure.Spec, asked []unit) {
	p.add(c, s, asked) // of the space
	if s.Dataset.Name == "" {
		return
	}
	s.Mechanism = mechanisms.Settings{Mechanism: results.BaselineMechanism}
	for r := range cmp.Or(c.BaselineRepetitions, c.Repetitions) {
		s.Repetition = r + 1
		p.add(c, s, asked)
	}
}

// mechanism adds the units of one mechanism with its parameters.
func (p *Plan) mechanism(c *study.Scene, s measure.Spec, asked []unit, m study.MechanismSpec) {
	if s.Mechanism.Outside != nil {
		s.Policy = "" // it handles unknown words itself
	}
	if m.Name != study.All {
		s.Label = m.Label
	}
	for _, s.Mechanism.Epsilon = range m.Over(c.Epsilons) {
		for r := range min(c.Repetitions, cmp.Or(m.Repetitions, c.Repetitions)) {
			s.Repetition = r + 1
			p.add(c, s, asked)
		}
	}
}

// add adds one unit per measurement, model and setting.
func (p *Plan) add(c *study.Scene, s measure.Spec, asked []unit) {
	shared := s
	if d := s.Definition(); d.PerWord && s.Documents != study.Redrawn && s.Streams == study.Grid {
		shared.Repetition = 0 // repetitions cost little more than one
	}
	spec := engine.MakeID(s) // once for all of its units
	group := engine.MakeID(shared)
	for _, a := range asked {
		if !isMeasured(a.measurement, s) {
			continue
		}
		settings := []string{""}
		if a.measurement.Setting && !s.IsBaseline() {
			settings = c.Settings
		}
		for _, model := range modelsOf(c, a.measurement, s.Dataset.Name) {
			for _, setting := range settings {
				u := a
				u.spec = s
				u.query.Model = model
				u.query.Setting = setting
				if a.measurement.Applies(&u.spec, &u.query) {
					p.put(u, spec, group)
				}
			}
		}
	}
}

// isMeasured tells whether a measurement is one of the space alone, of plain text, of
// private text or of single words, whatever the release is.
func isMeasured(m *measure.Measurement, s measure.Spec) bool {
	if s.Mechanism.Mechanism == "" {
		return m.OfSpace
	}
	if m.OfSpace || s.IsBaseline() && !m.Baseline {
		return false
	}
	return s.Dataset.Name != "" || m.WordsAlone
}

// modelsOf are the classifiers that a measurement is made with on a data set; one without
// a name for a measurement that needs none.
func modelsOf(c *study.Scene, m *measure.Measurement, dataset string) []measure.Model {
	if !m.Model || len(c.Models) == 0 {
		return []measure.Model{{}}
	}
	var models []measure.Model
	for _, spec := range c.Models {
		if study.On(spec.Datasets, dataset) {
			models = append(models, measure.NewModel(spec))
		}
	}
	return models
}

// put adds a unit of a release, whose JSON is that of its spec, and of the spec of
// its group.
func (p *Plan) put(u unit, spec, group string) {
	setting := u.query.Setting
	isCompared := u.measurement.Setting && !u.measurement.Model
	if u.spec.IsBaseline() && isCompared && u.splits != study.Privatizes(study.Local) {
		setting = fmt.Sprint(u.splits) // plain text is compared in these
	}
	model := u.query.Model
	rest := engine.MakeID(u.measurement.At(&u.spec, &u.query), u.query.Options, model.Name, model.Text(), setting)
	u.id = strings.TrimSuffix(spec, "]") + "," + rest[1:]
	u.group = group
	p.units = append(p.units, u)
}

// Places are those of all units.
func (p *Plan) Places() []results.Place {
	return list.Map(p.units, func(u unit) results.Place { return u.place() })
}

// place is the place of the unit's rows, as far as it is known in advance.
func (u *unit) place() results.Place {
	place := u.spec.Place()
	place.Model = u.query.Model.Name
	place.ModelParameters = u.query.Model.Text()
	place.Setting = u.query.Setting
	return place
}

// String returns the name of a unit for people.
func (u *unit) String() string {
	p := u.place()
	name := "baseline"
	if !u.spec.IsBaseline() {
		name = p.Mechanism
		if p.Variant != "" {
			name += " (" + p.Variant + ")"
		}
		name = strings.TrimSpace(name + " " + p.Parameters)
		if p.Mechanism != "" && p.Epsilon.Known() {
			name += " ε=" + p.Epsilon.String()
		}
	}
	repetition := ""
	if u.spec.Repetition > 0 {
		repetition = "repetition " + strconv.Itoa(u.spec.Repetition)
	}
	what := u.measurement.Name
	if c, ok := u.query.Options.(fmt.Stringer); ok {
		what = c.String()
	}
	if p.Setting == study.Local {
		p.Setting = ""
	}
	parts := []string{p.Dataset, fmt.Sprintf("%s %dd", p.Embedding, p.Dimension), name, p.Model, p.Setting, repetition}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool {
		return s == ""
	}), ", ") + ": " + what
}

// kind is what the time of a unit depends on most: training on the data, all else on the mechanism too.
func (u *unit) kind() string {
	k := u.place()
	k.Epsilon = results.Missing
	k.Repetition = 0
	k.Setting = ""
	if k.Model != "" {
		k.Mechanism = ""
		k.Variant = ""
		k.Parameters = ""
		k.Label = ""
		k.Policy = ""
	}
	return engine.MakeID(k, u.measurement.Name, u.query.Options)
}

// unit is the work of the engine.
func (p *Plan) unit(u *unit) engine.Unit {
	return engine.Unit{
		Name:  u.String(),
		ID:    u.id,
		Group: u.group,
		Kind:  u.kind,
		Place: u.place(),
		Data: func(ctx context.Context) (map[string]string, error) {
			f, err := u.spec.Fingerprints(ctx, p.lab)
			if err != nil {
				return nil, err
			}
			for _, r := range u.measurement.Needs(&u.spec, &u.query) {
				if err := r.Add(ctx, p.lab, f); err != nil {
					return nil, err
				}
			}
			return f, nil
		},
		Run: func(ctx context.Context, job *engine.Job) ([]results.Row, error) { return p.run(ctx, u, job) },
	}
}

// wants returns the resources that the study uses.
func (p *Plan) wants() (w lab.Wants) {
	for _, c := range p.Parts() {
		w.Datasets = append(w.Datasets, c.Datasets...)
		w.Embeddings = append(w.Embeddings, c.Embeddings...)
		if pool := c.Pool(); pool != nil {
			w.Datasets = append(w.Datasets, *pool)
		}
	}
	for i := range p.units {
		u := &p.units[i]
		w.Thesaurus = w.Thesaurus || u.spec.Definition().Needs.Thesaurus
		for _, n := range u.measurement.Needs(&u.spec, &u.query) {
			isSame := func(o lab.Resource) bool { return o.Key == n.Key && o.Ref == n.Ref }
			if !slices.ContainsFunc(w.Resources, isSame) {
				w.Resources = append(w.Resources, n)
			}
		}
	}
	return w
}
