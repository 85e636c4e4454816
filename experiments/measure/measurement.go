// Package measure holds the measurements: each is made of one release, a text
// that one mechanism privatised at one ε, and has one line in the registry.
//
// A measurement has a version, which is in the key of its results together with
// the release, its options and the data that it needs. Adding one to a finished
// study runs only the new one; raising a version runs only that one again.
// Privatising, training and testing are written here once.
package measure

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Measurement is a way to measure releases.
type Measurement struct {
	Name    string
	Version int // raised whenever its numbers change
	// VersionOf, if not nil, is the version of one unit, where a change touches some only: the others keep their
	// records.
	VersionOf func(s *Spec, q *Query) int
	// Quantities are what it measures. Those that are not in the registry of results
	// yet are added to it.
	Quantities []quantity.Quantity

	// Metric is its entry in the metrics of a study; the zero value is none.
	// Measurements may share one.
	Metric study.Metric
	// Asked returns the options with which a scene asks for the measurement, nil
	// for none; ok is false where it does not ask. nil means: where the scene has
	// the key of Metric, with these options. All that the rows depend on, except
	// the release, model and setting, is in the options: they are in the key, as
	// JSON. Several ask for it more than once.
	Asked func(s *study.Study, scene *study.Scene) (options any, ok bool)

	// OfSpace means that an embedding is measured; there is no mechanism.
	OfSpace bool
	// Model and Setting tell whether it is made once for each classifier, and
	// for each setting. Baseline: of plain text too.
	Model, Setting, Baseline bool
	// Applies limits it further; nil is what releases text. See Query.
	Applies func(s *Spec, q *Query) bool
	// Needs are the resources besides data set, vectors and mechanism; nil is none.
	Needs func(s *Spec, q *Query) []lab.Resource
	// WordsAlone says that it needs an embedding and a mechanism, but no data set.
	WordsAlone bool
	// Measure makes the rows: Release.Row(q) with quantities. An error that is a
	// *mechanisms.UndefinedError becomes a row of status undefined.
	Measure func(ctx context.Context, r *Release, q *Query) ([]results.Row, error)
}

// Query is what is asked of a release.
type Query struct {
	Options any    // as Measurement.Asked returned them
	Model   Model  // no name where the measurement does not depend on it
	Setting string // "" where the measurement does not depend on it, and of plain text
	Threads int    // that may be used; 0 means 1
}

// Several are options with which a scene asks for a measurement more than once.
type Several []any

// At returns name and version of a unit, as rows have them.
func (m *Measurement) At(s *Spec, q *Query) string {
	v := m.Version
	if m.VersionOf != nil {
		v = m.VersionOf(s, q)
	}
	return fmt.Sprintf("%s@%d", m.Name, v)
}

var registry []*Measurement

// Register adds a measurement. It is called from init functions only; the order
// is that of plans, and of new columns in tables.
func Register(m Measurement) {
	if slices.ContainsFunc(registry, func(o *Measurement) bool { return o.Name == m.Name }) {
		panic("measure: " + m.Name + " registered twice")
	}
	if m.Version < 1 || m.Measure == nil {
		panic("measure: " + m.Name + ": needs a version and a function")
	}
	if m.Metric.New != nil {
		study.RegisterMetric(m.Metric)
	}
	if m.Asked == nil {
		key := m.Metric.Key
		m.Asked = func(_ *study.Study, scene *study.Scene) (any, bool) {
			options, ok := scene.Metrics[key]
			return options, ok
		}
	}
	if m.Applies == nil {
		m.Applies = hasText
	}
	if m.Needs == nil {
		m.Needs = func(*Spec, *Query) []lab.Resource { return nil }
	}
	for _, c := range m.Quantities {
		if _, err := quantity.Find(c.Name); err != nil {
			quantity.Register(c)
		}
	}
	registry = append(registry, &m)
}

// All lists the measurements in the order of registration.
func All() []*Measurement { return slices.Clone(registry) }

// quantities are registered ones.
func quantities(names ...string) []quantity.Quantity {
	return list.Map(names, quantity.Must)
}

// unmeasured is the row of a quantity that could not be measured, with the
// reason.
func unmeasured(r results.Row, quantity, reason string) results.Row {
	m := results.Measured{}
	m.Note = reason
	return r.Of(quantity, m)
}
