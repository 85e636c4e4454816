// Package papers plans the measurements of the four papers on which the
// comparative study rests: Vickrey (Xu et al. 2021b), TEM (Carvalho et al.
// 2023), PrivEmb (Feyisetan & Kasiviswanathan 2021) and CMP (Feyisetan et al.
// 2020). Each measured privacy in a different way; each is one protocol here,
// with one file and one body of a study.
//
// A figure is a set of points, and every point can be measured alone: a unit is
// one curve at one position of one panel, and its result does not depend on the
// other curves, positions and panels. Package plots draws the rows.
package papers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// studySeed is the root of all randomness in a study.
func studySeed(h *study.Header) stream.Seed {
	return stream.FromUint64(h.Seed).Derive("papers", h.Protocol)
}

// place is a panel of a study, the common data of its units.
type place struct {
	header *study.Header
	lab    *lab.Lab
	panel  string
	seed   stream.Seed
}

func newPlace(h *study.Header, l *lab.Lab, panel string, labels ...string) place {
	return place{h, l, panel, studySeed(h).Derive(append(labels, panel)...)}
}

// typicalWords is the size of a vocabulary assumed in estimates of memory.
const typicalWords = 30_000

// unit is one curve at one position. id holds everything that its rows depend
// on except the protocol, the seed, the panel's name and the data; row is their
// initial value. A mechanism that does not exist there, or does not reach a
// target, returns one row that states this.
func (p place) unit(row results.Record, id []any, data func(ctx context.Context) (lab.Fingerprints, error),
	work func() lab.Work,
	run func(ctx context.Context, row results.Record, job *engine.Job) ([]results.Record, error)) engine.Unit {
	row.Panel, row.Seed = p.panel, p.header.Seed
	name := strings.TrimSuffix(p.panel+": "+row.Series, ": ")
	if row.X.Known() {
		name += fmt.Sprintf(" at %v", float64(row.X))
	}
	return engine.Unit{
		Name: name, ID: engine.MakeID(append([]any{p.header.Protocol, p.header.Seed, p.panel}, id...)...), Row: row,
		Data: func(ctx context.Context) (map[string]string, error) {
			f, err := data(ctx)
			if err != nil {
				return nil, fmt.Errorf("panel %s: %w", p.panel, err)
			}
			return f, nil
		},
		Cost: func() engine.Cost { return p.lab.Cost(row, work()) },
		Memory: func() int64 {
			w := work()
			return lab.Memory(row.Model, int(w.Private+w.Tokens), typicalWords)
		},
		Run: func(ctx context.Context, job *engine.Job) (engine.Output, error) {
			rows, err := run(ctx, row, job)
			var undefined *mechanisms.UndefinedError
			var unreachable *measure.OutOfReach
			if errors.As(err, &undefined) || errors.As(err, &unreachable) {
				row := row
				row.Status, row.Reason = results.StatusUndefined, err.Error()
				rows, err = []results.Record{row}, nil
			}
			return engine.Output{Rows: rows}, err
		},
	}
}

// curve is one mechanism with everything but its ε.
type curve struct {
	label    string
	settings mechanisms.Settings
	epsilons []float64
	needs    mechanisms.Needs
}

// curves returns those of a list of mechanisms; a parameter given as a list
// makes one curve per value.
func curves(list []study.MechanismSpec) ([]curve, error) {
	var all []curve
	for _, m := range list {
		settings, err := m.Expand()
		if err != nil {
			return nil, err
		}
		for _, s := range settings {
			d, err := mechanisms.Find(s.Mechanism)
			if err != nil {
				return nil, err
			}
			label := m.Label
			if label == "" || study.Many(m.Name) {
				label = d.Title
			}
			if s.Variant != mechanisms.Proved {
				label += " (" + string(s.Variant) + ")"
			}
			if len(settings) > 1 && !study.Many(m.Name) {
				label += " " + s.Parameters.String()
			}
			all = append(all, curve{label, s, m.Epsilons, d.Needs})
		}
	}
	return all, nil
}

// at returns the settings at one ε.
func (c curve) at(epsilon float64) mechanisms.Settings {
	s := c.settings
	s.Epsilon = epsilon
	return s
}

func (c curve) over(epsilons []float64) []float64 {
	if len(c.epsilons) > 0 {
		return c.epsilons
	}
	return epsilons
}

// row returns the initial row of a curve at one position of its x axis.
func (c curve) row(s mechanisms.Settings, xName string, x results.Float) results.Record {
	r := results.NewRecord()
	r.Series, r.XName, r.X, r.Status = c.label, xName, x, results.StatusOK
	if s.Mechanism == "" {
		return r
	}
	r.Mechanism, r.Variant, r.Parameters = s.Mechanism, string(s.Variant), s.Parameters.String()
	if xName == "epsilon" || s.Epsilon > 0 && xName == "beta" {
		r.Epsilon = results.Float(s.Epsilon)
	}
	return r
}

// plain is text that nobody privatised.
var plain = curve{label: "no privatisation", settings: mechanisms.Settings{Mechanism: results.BaselineMechanism}}

// ofText is the row of a curve on the text of a data set, over ε.
func (c curve) ofText(s mechanisms.Settings, d study.DatasetSpec, e study.EmbeddingSpec) results.Record {
	x := results.Missing
	if s.Mechanism != results.BaselineMechanism {
		x = results.Float(s.Epsilon)
	}
	r := c.row(s, "epsilon", x)
	if !x.Known() {
		r.Epsilon, r.GuaranteeReason = results.Missing, "no privatisation"
	}
	r.Dataset, r.Embedding, r.Dimension = d.Name, e.Name, e.Dimensions[0]
	return r
}

// on fills in which vectors were measured.
func on(r results.Record, space *embeddings.Space) results.Record {
	r.Generated, r.Embedding, r.Dimension, r.Vocabulary = space.Generated, space.Name, space.Dimension, space.Len()
	r.EmbeddingFingerprint = space.Fingerprint()
	return r
}

// with returns the row with a measured quantity; repetitions count from 1.
func with(r results.Record, quantity string, repetition int, value float64) results.Record {
	r.Quantity, r.Repetition, r.Value = quantity, repetition, results.Float(value)
	return r
}

// wordsMechanism builds a mechanism that returns words.
func (p place) wordsMechanism(space *embeddings.Space, corpus *measure.Corpus, c curve,
	epsilon float64) (mechanisms.Mechanism, error) {
	env, err := p.lab.Environment(space, corpus, c.needs, p.seed)
	if err != nil {
		return nil, err
	}
	return mechanisms.New(env, c.at(epsilon))
}

// checkHeader rejects header fields that a paper study cannot have.
func checkHeader(at study.At, h *study.Header) error {
	if h.Documents == study.Redrawn {
		return at(errors.New("documents = \"redrawn\": grid studies draw documents anew; those of a paper "+
			"are one sample"), "documents")
	}
	return nil
}

func checkMechanisms(at study.At, list []study.MechanismSpec) error {
	for i, m := range list {
		if err := m.Check(at, fmt.Sprintf("mechanisms[%d]", i)); err != nil {
			return err
		}
		if m.Policy != "" || m.KeepWords != "" || m.Repetitions != 0 {
			return at(errors.New("policy, keep_words and repetitions of a mechanism: grid studies have them"),
				"mechanisms[%d]", i)
		}
		if m.Is() {
			return at(fmt.Errorf("%s: papers measure words of mechanisms that are built in; grid and attacks "+
				"studies take others", m.Name), "mechanisms[%d]", i)
		}
		settings, err := m.Expand()
		if err != nil {
			return at(err, "mechanisms[%d]", i)
		}
		for _, s := range settings {
			if d, err := mechanisms.Find(s.Mechanism); err == nil && d.New == nil {
				return at(fmt.Errorf("%s releases vectors: this protocol measures words", s.Mechanism),
					"mechanisms[%d].name", i)
			}
		}
	}
	return nil
}

// checkPlace validates a panel's name, embedding and ε.
func checkPlace(at study.At, where, name string, e *study.EmbeddingSpec, epsilons []float64) error {
	if name == "" {
		return at(errors.New("a panel needs a name"), "%s", where)
	}
	if err := e.Check(); err != nil {
		return at(err, "%s.embedding", where)
	}
	if len(e.Dimensions) != 1 {
		return at(fmt.Errorf("dimensions = %v: a panel has one", e.Dimensions), "%s.embedding.dimensions", where)
	}
	return study.Epsilons(at, where+".epsilons", epsilons)
}

func needEpsilons(at study.At, where string, epsilons []float64) error {
	if len(epsilons) == 0 {
		return at(errors.New("epsilons: must not be empty"), "%s.epsilons", where)
	}
	return nil
}

func checkData(at study.At, where string, d study.DatasetSpec, m *study.ModelSpec) error {
	if err := d.Check(); err != nil {
		return at(err, "%s.dataset", where)
	}
	if m == nil {
		return nil
	}
	if err := d.Predicts(); err != nil {
		return at(err, "%s.dataset", where)
	}
	_, err := m.Resolve()
	return at(err, "%s.model", where)
}

// number validates an integer of a study made in memory.
func number(at study.At, where, name string, v, least int) error {
	return at(check.AtLeast(name, v, least), "%s.%s", where, name)
}

// model returns a model of a study with its defaults. They are part of its
// identity: with other defaults it is a different unit.
func model(m study.ModelSpec) measure.Model {
	parameters, _ := m.Resolve() // checked
	return measure.Model{Name: m.Name, Parameters: parameters}
}

// choose keeps the panels of a section that --panel names: by the panel, its
// section, or both: "section/name". Names that occur are collected in seen.
func choose[P any](o study.Overrides, named *[]string, section string, panels []P, name func(P) string) []P {
	return slices.DeleteFunc(slices.Clone(panels), func(p P) bool {
		names := []string{section, name(p), section + "/" + name(p)}
		*named = append(*named, names...)
		return len(o.Panels) > 0 && !slices.ContainsFunc(names,
			func(n string) bool { return slices.Contains(o.Panels, n) })
	})
}

// refuse returns an error for flags that a paper study does not use and panels
// that it does not have.
func refuse(o study.Overrides, named []string) error {
	if err := o.Refuse("paper", "datasets", "embedding", "dimensions", "mechanisms", "epsilons", "models", "settings",
		"repetitions", "baseline-repetitions", "sample"); err != nil {
		return err
	}
	for _, name := range o.Panels {
		if !slices.Contains(named, name) {
			slices.Sort(named)
			return fmt.Errorf("panel = %q: must be one of %q", name, slices.Compact(named))
		}
	}
	return nil
}

// wants adds the needs of mechanisms to those of panels.
func wants(w lab.Wants, list []study.MechanismSpec) lab.Wants {
	all, _ := curves(list) // checked
	for _, c := range all {
		w.Thesaurus = w.Thesaurus || c.needs.Thesaurus
	}
	return w
}
