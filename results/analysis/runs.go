package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats/scalar"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Options of a comparison of runs.
type Options struct {
	Level      float64 // probability of any alarm where only chance differs; 0 for 0.05
	Thresholds bool    // a change within its column's threshold is none, and others are not looked at
}

// GateLevel is the level of a gate that runs often.
const GateLevel = 1e-3

// Outcome of a comparison.
type Outcome string

// Same: enough was compared and nothing changed beyond chance. Changed:
// something did. Incomplete: nothing changed as far as could be seen, but the
// runs are unlike, cells are missing, or there was nothing to test; no success.
const (
	Same       Outcome = "same"
	Changed    Outcome = "changed"
	Incomplete Outcome = "incomplete"
)

// Comparison is what two runs differ in.
type Comparison struct {
	Options
	Cells   int      // compared
	Exact   int      // of them, those of equal seed and data, where any difference is a change
	New     int      // cells only in the second run
	Changes []Change // differences in exact cells
	Broken  []string // a mechanism that no longer exists, or promises something else
	Tests   []Test
	Reasons []string // why the comparison is not a whole one
	// Untested counts numbers for which no spread is known, Once those of them for
	// want of a second repetition.
	Untested, Once int
	names          map[results.Place]string
	space          func(results.Place) string
}

// Change is a difference between two runs of equal seed and data.
type Change struct {
	Place      string
	Quantity   string
	Repetition int
	Before     results.Optional
	After      results.Optional
}

// Test is one test of a change.
type Test struct {
	Quantity string
	Scope    string // "AG News", "AG News, CMP" or one cell
	Cells    int
	Before   float64 // means over the cells
	After    float64
	Change   float64 // After − Before
	stats.Test
	Error     float64
	Adjusted  float64 // Holm over all tests
	Threshold float64
	// Detectable is the smallest change that the test finds with probability 0.8.
	Detectable float64
	How        string // what chance was measured by
	Changed    bool
	df         float64
}

// Outcome sums up: a change before a lack.
func (c *Comparison) Outcome() Outcome {
	told := func(t Test) bool { return t.Changed }
	within := func(t Test) bool { return t.Threshold > 0 }
	switch {
	case len(c.Broken) > 0, slices.ContainsFunc(c.Tests, told), len(c.Changes) > 0 && !slices.ContainsFunc(c.Tests, within):
		return Changed
	case len(c.Reasons) > 0:
		return Incomplete
	}
	return Same
}

// Sentence says what came out.
func (c *Comparison) Sentence() string {
	changed := list.Count(c.Tests, func(t Test) bool { return t.Changed })
	parts := []string{fmt.Sprintf("Nothing changed: %d cells, %d tests", c.Cells, len(c.Tests))}
	switch c.Outcome() {
	case Changed:
		parts[0] = fmt.Sprintf("Changed: %d of %d tests beyond chance", changed, len(c.Tests))
	case Incomplete:
		parts[0] = "Not compared as a whole"
	}
	if len(c.Changes) > 0 {
		parts = append(parts, fmt.Sprintf("%d numbers differ at equal seed and data", len(c.Changes)))
	}
	return strings.Join(append(parts, append(slices.Clone(c.Broken), c.Reasons...)...), "; ") + "."
}

// pair is one cell in both runs.
type pair struct {
	before, after results.Cells
	exact         bool // equal seed and data
	sameDocuments bool
	ofOne, df     float64 // variance of the change of the quantity tested in one repetition, pooled
	training      string  // what that is known from; "" where it is not
}

func (p *pair) cell() results.Cell { return p.before.Cells[0] }

// shared are the repetitions that both runs have.
func (p *pair) shared() (both [][2]results.Cell) {
	for _, x := range p.before.Cells {
		for _, y := range p.after.Cells {
			if x.Repetition == y.Repetition {
				both = append(both, [2]results.Cell{x, y})
			}
		}
	}
	return both
}

// Runs compares a run with an earlier one, cell by cell and quantity by
// quantity. Cells of equal seed and data must be equal: any difference is a
// change. Others are tested: all cells of a data set together, each mechanism
// on it, and single cells on the same documents, those with outcomes of documents
// by pairs of documents. p-values are Holm-corrected over all tests.
func Runs(before, after *results.Prepared, o Options) *Comparison {
	o.Level = cmp.Or(o.Level, familyLevel)
	c := &Comparison{Options: o, space: after.SpaceName, names: results.Names(list.Map(
		slices.Concat(before.Cells, after.Cells), func(x results.Cell) results.Place { return x.Place }))}
	pairs := c.match(before, after)
	for _, q := range results.Columns() {
		if q.Threshold > 0 || !o.Thresholds && q.Title != "" && !q.Derived && !q.Timing {
			c.quantity(q, pairs)
		}
	}
	p := list.Map(c.Tests, func(t Test) float64 { return t.P })
	for i, adjusted := range stats.Holm(p) {
		t := &c.Tests[i]
		t.Adjusted = adjusted
		t.Changed = adjusted < c.Level && math.Abs(t.Change) > t.Threshold
		t.Detectable = max(t.Threshold, t.Error*stats.Detectable(1, t.df, c.Level/float64(len(c.Tests))))
	}
	switch {
	case c.Once > 0:
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d numbers are not tested: %s", c.Once, Untested))
	case len(pairs) > 0 && len(c.Tests) == 0 && c.Exact == 0:
		c.Reasons = append(c.Reasons, "nothing could be tested: no spread is known")
	}
	return c
}

// unlike reports whether two fingerprints are known and differ.
func unlike(before, after string) bool { return before != "" && after != "" && before != after }

// matched is what a cell has in common with that of another run; its name in print
// is not part of it.
func matched(p results.Place) results.Place { p.Label = ""; return p }

// match pairs the cells of two runs and reports those that have no partner.
func (c *Comparison) match(before, after *results.Prepared) (pairs []*pair) {
	other := map[results.Place]results.Cells{}
	for _, y := range results.GroupCells(after.Cells) {
		other[matched(y.Place)] = y
	}
	lacks := map[string][]string{} // by what they say
	lack := func(what, name string) {
		if !slices.Contains(lacks[what], name) {
			lacks[what] = append(lacks[what], name)
		}
	}
	for _, x := range results.GroupCells(before.Cells) {
		y, found := other[matched(x.Place)]
		delete(other, matched(x.Place))
		a, name := x.Cells[0], c.place(x.Cells[0])
		if !found {
			lack("cells are in the first run only", name)
			continue
		}
		b := y.Cells[0]
		if was, is := state(a), state(b); was != is {
			c.Broken = append(c.Broken, fmt.Sprintf("%s: %s in the first run, %s in the second", name, was, is))
			continue
		}
		p := &pair{before: x, after: y,
			sameDocuments: a.DatasetFingerprint == b.DatasetFingerprint && a.TestItems == b.TestItems}
		p.exact = p.sameDocuments && a.Seed == b.Seed && a.EmbeddingFingerprint == b.EmbeddingFingerprint &&
			!a.Unrepeatable && !b.Unrepeatable && len(p.shared()) > 0 && !unlike(a.Program, b.Program)
		if a.Seed == b.Seed && !p.sameDocuments || a.TestItems != b.TestItems {
			lack("data sets have other documents", results.DatasetTitle(a.Dataset))
		}
		if p.sameDocuments && unlike(a.EmbeddingFingerprint, b.EmbeddingFingerprint) {
			lack("spaces have other vectors", cmp.Or(c.space(a.Place), a.Embedding))
		}
		if unlike(a.Program, b.Program) {
			lack("mechanisms are another program or text", c.names[a.Instance()])
		}
		for _, q := range a.Quantities() {
			for _, other := range a.OtherResources(b, q) {
				lack("programs, models or lists are others", other)
			}
		}
		if p.exact {
			if c.Exact++; len(p.shared()) < len(x.Cells) {
				lack("cells have fewer repetitions in the second run", name)
			}
		}
		pairs = append(pairs, p)
	}
	c.Cells, c.New = len(pairs), len(other)
	if len(pairs) == 0 {
		c.Reasons = append(c.Reasons, "no cell is in both")
		return nil
	}
	for what, names := range lacks {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d %s, such as %s", len(names), what, names[0]))
	}
	slices.Sort(c.Reasons)
	return pairs
}

// state is whether a mechanism exists, and what it promises.
func state(c results.Cell) string {
	if c.Status != results.StatusOK {
		return c.Status
	}
	scope := map[bool]string{true: ", between some words only"}[c.GuaranteeScope != ""]
	return "guarantee " + strconv.Quote(c.GuaranteeMetric) + scope
}

// place names a cell.
func (c *Comparison) place(x results.Cell) string {
	parts := []string{results.DatasetTitle(x.Dataset), c.space(x.Place), c.names[x.Instance()], "", c.names[x.Task()]}
	if x.Epsilon.Known() {
		parts[3] = "ε=" + x.Epsilon.String()
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// exact lists the differences of one quantity in cells that must be equal.
func (c *Comparison) exact(q results.Column, p *pair) {
	for _, both := range p.shared() {
		a, had := both[0].At(q.Name)
		b, has := both[1].At(q.Name)
		alike := near(a.Value.Float(), b.Value.Float()) && a.Part == b.Part && a.Whole == b.Whole &&
			(a.Items == b.Items || a.Items == "" || b.Items == "")
		if had && has && !alike && len(both[0].OtherResources(both[1], q.Name)) == 0 {
			c.Changes = append(c.Changes, Change{c.place(both[0]), q.Name, both[0].Repetition, a.Value, b.Value})
		}
	}
}

// near allows for another order of additions.
func near(a, b float64) bool {
	return scalar.Same(a, b) || scalar.EqualWithinRel(a, b, 1e-9)
}
