package grid

import (
	"context"
	"maps"
	"strconv"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/results"
)

// planned holds the common data of the units of one plan.
type planned struct {
	lab   *lab.Lab
	cells map[string]Cell // by ID
}

// Plan turns the study into units. It opens nothing.
func (s *Study) Plan(l *lab.Lab) ([]engine.Unit, error) {
	cells, err := s.Cells()
	if err != nil {
		return nil, err
	}
	p := &planned{l, map[string]Cell{}}
	baselines := map[string][]string{} // by scene
	for _, c := range cells {
		p.cells[c.id()] = c
		if c.IsBaseline() {
			baselines[c.scene()] = append(baselines[c.scene()], c.id())
		}
	}
	var units []engine.Unit
	begun := map[string]bool{}
	first := func(labels ...string) bool {
		id := engine.MakeID(labels)
		defer func() { begun[id] = true }()
		return !begun[id]
	}
	for _, c := range cells {
		text := []string{c.group(), strconv.Itoa(c.Repetition)}
		privatises := first(text...)
		trains := c.Setting == study.TestOnly || first(append(text, c.Model, c.ModelParameters)...)
		u := engine.Unit{
			Name: c.String(), ID: c.id(), Group: c.group(), Row: c.row(),
			Data:   func(ctx context.Context) (map[string]string, error) { return p.fingerprints(ctx, c) },
			Cost:   func() engine.Cost { return p.cost(c, privatises, trains) },
			Memory: func() int64 { return p.memory(c) },
			Run: func(ctx context.Context, job *engine.Job) (engine.Output, error) {
				return p.run(ctx, c, job)
			},
		}
		if !c.IsBaseline() && c.Model != "" {
			u.Baselines = baselines[c.scene()]
		}
		units = append(units, u)
	}
	return units, nil
}

// Wants returns the resources that the study uses.
func (s *Study) Wants() lab.Wants {
	w := lab.Wants{Datasets: s.Datasets, Embeddings: s.Embeddings, English: s.Metrics.English}
	if s.Metrics.CS.Documents > 0 && len(s.Mechanisms) > 0 {
		w.Encoder = s.Metrics.CS.Encoder
	}
	for _, m := range s.Mechanisms {
		settings, _ := m.Expand() // checked
		for _, x := range settings {
			d, err := x.Definition()
			w.Thesaurus = w.Thesaurus || err == nil && d.Needs.Thesaurus
		}
	}
	return w
}

// scene returns the name of what a cell shares with its baseline.
func (c Cell) scene() string {
	parts := []any{c.Dataset.Name, c.Embedding.Name, c.Dimension, c.Model, c.ModelParameters}
	if c.Documents == study.Redrawn {
		parts = append(parts, c.Repetition)
	}
	return engine.MakeID(parts...)
}

// row returns the initial record of the cell.
func (c Cell) row() results.Record {
	r := results.NewRecord()
	r.Dataset, r.Embedding, r.Dimension = c.Dataset.Name, c.Embedding.Name, c.Dimension
	r.Mechanism, r.Variant, r.Parameters = c.Mechanism.Mechanism, string(c.Mechanism.Variant), c.parameters()
	r.Model, r.ModelParameters = c.Model, c.ModelParameters
	r.Setting, r.Repetition, r.Seed = c.Setting, c.Repetition, c.Seed
	if c.IsBaseline() {
		r.GuaranteeReason = "no privatisation"
		return r
	}
	r.Epsilon, r.Policy = results.Float(c.Mechanism.Epsilon), string(c.Policy)
	return r
}

// fingerprints opens the data of a cell.
func (p *planned) fingerprints(ctx context.Context, c Cell) (map[string]string, error) {
	shared, err := p.lab.OfText(ctx, c.sample(), c.Embedding, c.Dimension, c.needs())
	if err != nil {
		return nil, err
	}
	f := maps.Clone(shared)
	if err := p.lab.OfOutside(ctx, c.Mechanism, c.Dataset, f); err != nil {
		return nil, err
	}
	if c.Metrics.English != "" {
		if f["english"], err = p.lab.OfEnglish(c.Metrics.English); err != nil {
			return nil, err
		}
	}
	if c.measuresCS() {
		if f["encoder"], err = p.lab.OfEncoder(c.Metrics.CS.Encoder); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (p *planned) open(ctx context.Context, c Cell) (*measure.Corpus, *measure.Space, error) {
	corpus, err := p.lab.Corpus(ctx, c.sample())
	if err != nil {
		return nil, nil, err
	}
	space, err := p.lab.Space(ctx, c.sample(), c.Embedding, c.Dimension, c.needs().Thesaurus)
	return corpus, space, err
}

// cost is called after the data are open. The cells of one text and of one model
// share the work, which the first of them is charged for.
func (p *planned) cost(c Cell, privatises, trains bool) engine.Cost {
	w := p.lab.Reading(c.sample(), c.Dimension)
	if c.Model != "" && trains {
		w.Trainings = 1
	}
	if !c.IsBaseline() {
		if privatises {
			w.Private = w.Tokens
			if o := c.Metrics.InferenceError; o.Full && c.Repetition == 1 {
				w.Draws = 2 * float64(o.Samples)
			}
		}
		if c.measuresCS() && c.Metrics.CS.Encoder != lab.SIFEncoder {
			w.Similarity = float64(c.Metrics.CS.Documents)
		}
	}
	return p.lab.Cost(c.row(), w)
}

// memory is called after the data are open.
func (p *planned) memory(c Cell) int64 {
	return c.Mechanism.Memory() + p.lab.Memory(c.sample(), c.Model)
}
