package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mldpbench/datasets"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results/quantity"
)

// Run is what one folder of a run holds.
type Run struct {
	Name     string // for messages: its path
	Rows     []Row
	Audit    []AuditRow
	Datasets []datasets.Description
	Title    string     // of the study, "" for none
	PUC      *Composite // of the study; nil is the choice of 2024
	// Origin, for pages.
	Command                               []string
	Definition, Version, Machine, Started string
}

// Prepared is the view of rows that tables, figures, pages and comparisons
// read: joined, derived, refuted, told apart and labelled, once.
type Prepared struct {
	Rows     []Row  // stored ones, sorted
	Cells    []Cell // in the order of the plans
	Audit    []AuditRow
	Datasets []datasets.Description
	Runs     []Run            // without their rows
	names    map[Place]string // shortest ones that tell instances and tasks apart
	Warnings []string         // what a reader must know: audits of other data, data told apart
}

// Prepare joins runs. A unit in two of them is kept once; it is an error if they
// report it differently. Rows of different data, vectors or programs are told apart
// by names ("agnews (200 test documents)", "mine (of other)") and so are never averaged.
// The audit of a run applies to that run alone, and only if it was made with
// the same vectors: an instance that it refutes has no guarantee.
func Prepare(runs ...Run) (*Prepared, error) {
	p := &Prepared{}
	var all [][]Row
	for _, run := range runs {
		audit := Where(run.Audit, func(a AuditRow) bool {
			return a.EmbeddingFingerprint == "" ||
				slices.ContainsFunc(run.Rows, func(r Row) bool {
					return r.EmbeddingFingerprint == a.EmbeddingFingerprint
				})
		})
		if stale := len(run.Audit) - len(audit); stale > 0 {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %d verdicts of an audit of other vectors are left out",
				run.Name, stale))
		}
		all = append(all, refute(run.Rows, audit))
		p.Audit = append(p.Audit, audit...)
		for _, d := range run.Datasets {
			if !slices.ContainsFunc(p.Datasets, func(o datasets.Description) bool {
				return o.Name == d.Name && o.Fingerprint == d.Fingerprint
			}) {
				p.Datasets = append(p.Datasets, d)
			}
		}
		run.Rows = nil
		p.Runs = append(p.Runs, run)
	}
	var err error
	if p.Rows, err = union(all...); err != nil {
		return nil, err
	}
	Sort(p.Rows)
	apart, told := tellApart(p.Runs, all)
	p.Warnings = append(p.Warnings, told...)
	joined, err := union(apart...)
	if err != nil {
		return nil, err
	}
	Sort(joined)
	p.Cells = pivot(joined)
	inheritOnce(p.Cells)
	composites, told := compositesOf(runs)
	p.Warnings = append(p.Warnings, told...)
	p.derive(composites)
	p.names = Names(list.Map(p.Cells, func(c Cell) Place { return c.Place }))
	return p, nil
}

// Name returns the printed name of a place's mechanism.
func (p *Prepared) Name(at Place) string { return p.names[at.Instance()] }

// TaskName returns that of its classifier and setting.
func (p *Prepared) TaskName(at Place) string { return p.names[at.Task()] }

// SpaceName is the printed name of a place's embedding, which says where only a
// part of its words was there, or "".
func (p *Prepared) SpaceName(at Place) string {
	if at.Embedding == "" {
		return ""
	}
	name := at.Embedding
	if slices.ContainsFunc(p.Datasets, func(d datasets.Description) bool {
		return slices.Contains(d.Parts, unmarked(name))
	}) {
		name += " (part of its words)"
	}
	return fmt.Sprintf("%s d=%d", name, at.Dimension)
}

// Private returns the cells of privatised text.
func (p *Prepared) Private() []Cell {
	return Where(p.Cells, func(c Cell) bool { return !c.IsBaseline() })
}

// union joins the rows of several runs, whose plans follow each other.
func union(runs ...[]Row) ([]Row, error) {
	var all []Row
	at := map[rowID]int{}
	offset := 0
	for _, run := range runs {
		next := offset
		for _, r := range run {
			r.Index += offset
			next = max(next, r.Index+1)
			if i, again := at[r.id()]; again {
				if column := FirstDifference(all[i], r); column != "" {
					return nil, fmt.Errorf("unit %s: two runs differ in %s of %s", r.Key, column, r.Quantity)
				}
				continue
			}
			at[r.id()] = len(all)
			all = append(all, r)
		}
		offset = next
	}
	return all, nil
}

// refute takes the guarantee from instances that an audit found in violation.
func refute(rows []Row, audit []AuditRow) []Row {
	refuted := map[Place]bool{}
	for _, a := range audit {
		if a.Violated && a.Promises {
			refuted[a.Instance()] = true
		}
	}
	if len(refuted) == 0 {
		return rows
	}
	out := slices.Clone(rows)
	for i := range out {
		r := &out[i]
		own := r.Instance()
		if own.Label = ""; refuted[own] && r.GuaranteeMetric != "" {
			r.Promise = Promise{GuaranteeReason: fmt.Sprintf("refuted by the audit: it claims %g times the %s distance",
				r.GuaranteeEpsilon.Float(), r.GuaranteeMetric)}
		}
	}
	return out
}

// pivot gathers the rows of each place into a cell, which also gets what was
// measured of its release without its model or setting.
func pivot(rows []Row) []Cell {
	cells := map[Place]*Cell{}
	var order []Place
	for _, r := range rows {
		k := r.Place
		c, ok := cells[k]
		if !ok {
			c = newCell(r)
			cells[k] = c
			order = append(order, k)
		}
		if r.Quantity != "" {
			c.values[r.Quantity] = r.withWidth()
			c.resources[r.Quantity] = r.Resources
		}
		if r.Status == StatusOK && c.Status != StatusOK && r.Value.Known() {
			c.Status = r.Status
			c.Reason = ""
			c.Promise = r.Promise
		}
	}
	inherited := inheritReleases(cells, order)
	var out []Cell
	for _, k := range order {
		if !inherited[k] {
			out = append(out, *cells[k])
		}
	}
	slices.SortStableFunc(out, func(a, b Cell) int {
		if a.Index != b.Index {
			return cmp.Compare(a.Index, b.Index)
		}
		return cmp.Compare(a.Repetition, b.Repetition)
	})
	return out
}

// newCell is the cell of a row, still without quantities.
func newCell(r Row) *Cell {
	return &Cell{
		Place:     r.Place,
		Promise:   r.Promise,
		Study:     r.Study,
		Index:     r.Index,
		Key:       r.Key,
		Status:    r.Status,
		Reason:    r.Reason,
		Version:   r.Version,
		Machine:   r.Machine,
		Program:   r.Program,
		values:    map[string]Measured{},
		resources: map[string]string{},
	}
}

// inheritReleases gives each cell what was measured of its release alone, and returns the places that it came from.
func inheritReleases(cells map[Place]*Cell, order []Place) map[Place]bool {
	inherited := map[Place]bool{}
	for _, k := range order {
		own := cells[k]
		for _, parent := range parents(k) {
			from, ok := cells[parent]
			if !ok {
				continue
			}
			inherited[parent] = true
			for name, m := range from.values {
				if _, has := own.values[name]; !has {
					own.values[name] = m
					own.resources[name] = from.resources[name]
				}
			}
		}
	}
	return inherited
}

// withWidth is the number of a row. A bootstrap or t interval of answers that are
// all alike, as all right, has no width, however few they are: it gives way to that
// of Alike, of as many as there are test documents at most, since words of one
// document are right together.
func (r Row) withWidth() Measured {
	m := r.Measured
	n := r.Whole
	if r.TestItems > 0 {
		n = min(n, r.TestItems)
	}
	c, err := quantity.Find(r.Quantity)
	if err != nil { // of a measurement that is gone
		return m
	}
	v := m.Value.Float()
	high := m.High.Float()
	wide := high > m.Low.Float() && !math.IsInf(high, 0)
	if wide || n < 1 || !m.High.Known() || !(v >= 0 && v <= 1) || !c.Share && !c.Mean {
		return m
	}
	i := stats.Alike(v, n, 0.95)
	return m.Within(i.Low, i.High)
}

// parents are the less specific places of the same release, the nearer first.
func parents(k Place) (out []Place) {
	if k.Model != "" {
		k.Model = ""
		k.ModelParameters = ""
		out = append(out, k)
	}
	if k.Setting != "" {
		k.Setting = ""
		out = append(out, k)
	}
	return out
}

// inheritOnce sets quantities that are measured once for a mechanism and ε in the cells of all other repetitions,
// models and settings.
func inheritOnce(cells []Cell) {
	for _, q := range Where(quantity.All(), func(q quantity.Quantity) bool { return q.Once }) {
		known := map[Place]Measured{}
		for _, c := range cells {
			group := c.Group().Text()
			if _, again := known[group]; !again && c.Has(q.Name) {
				known[group] = c.values[q.Name]
			}
		}
		for i := range cells {
			m, ok := known[cells[i].Group().Text()]
			if ok && !cells[i].Has(q.Name) {
				m.Inherited = true
				cells[i].Set(q.Name, m)
			}
		}
	}
}
