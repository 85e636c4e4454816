package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results/quantity"

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

// Enough was compared and nothing changed beyond chance; something did; or nothing changed as far as could be seen, but
// the runs are unlike, cells are missing, or there was nothing to test, which is no success.
const (
	same       Outcome = "same"
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
	// Untested counts numbers for which no spread is known, Once those of them for want of a second repetition.
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
	degrees    float64
}

// Outcome sums up: a change before a lack.
func (c *Comparison) Outcome() Outcome {
	isChanged := func(t Test) bool { return t.Changed }
	hasThreshold := func(t Test) bool { return t.Threshold > 0 }
	if len(c.Broken) > 0 || slices.ContainsFunc(c.Tests, isChanged) {
		return Changed
	}
	if len(c.Changes) > 0 && !slices.ContainsFunc(c.Tests, hasThreshold) {
		return Changed
	}
	if len(c.Reasons) > 0 {
		return Incomplete
	}
	return same
}

// Sentence says what came out.
func (c *Comparison) Sentence() string {
	parts := []string{c.summary()}
	if len(c.Changes) > 0 {
		parts = append(parts, fmt.Sprintf("%d numbers differ at equal seed and data", len(c.Changes)))
	}
	parts = append(parts, c.Broken...)
	parts = append(parts, c.Reasons...)
	return strings.Join(parts, "; ") + "."
}

// summary is the first part of the sentence.
func (c *Comparison) summary() string {
	switch c.Outcome() {
	case Changed:
		changed := list.Count(c.Tests, func(t Test) bool { return t.Changed })
		return fmt.Sprintf("Changed: %d of %d tests beyond chance", changed, len(c.Tests))
	case Incomplete:
		return "Not compared as a whole"
	}
	return fmt.Sprintf("Nothing changed: %d cells, %d tests", c.Cells, len(c.Tests))
}

// Runs compares a run with an earlier one, cell by cell and quantity by quantity. Cells of equal seed and data must be
// equal: any difference is a change. Others are tested: all cells of a data set together, each mechanism on it, and
// single cells on the same documents, those with outcomes of documents by pairs of documents. p-values are
// Holm-corrected over all tests.
func Runs(before, after *results.Prepared, o Options) *Comparison {
	if o.Level == 0 {
		o.Level = familyLevel
	}
	placeOf := func(x results.Cell) results.Place { return x.Place }
	places := list.Map(slices.Concat(before.Cells, after.Cells), placeOf)
	c := &Comparison{
		Options: o,
		space:   after.SpaceName,
		names:   results.Names(places),
	}
	cells := c.match(before, after)
	for _, q := range quantity.All() {
		if c.looksAt(q) {
			c.quantity(q, cells)
		}
	}
	c.adjust()
	switch {
	case c.Once > 0:
		c.Reasons = append(c.Reasons, fmt.Sprintf("%d numbers are not tested: %s", c.Once, Untested))
	case len(cells) > 0 && len(c.Tests) == 0 && c.Exact == 0:
		c.Reasons = append(c.Reasons, "nothing could be tested: no spread is known")
	}
	return c
}

// looksAt reports whether a quantity is compared.
func (c *Comparison) looksAt(q quantity.Quantity) bool {
	if q.Threshold > 0 {
		return true
	}
	return !c.Thresholds && q.Title != "" && !q.Derived && !q.Timing
}

// adjust corrects the p-values of all tests, and says which found a change.
func (c *Comparison) adjust() {
	p := list.Map(c.Tests, func(t Test) float64 { return t.P })
	level := c.Level / float64(len(c.Tests))
	for i, adjusted := range stats.Holm(p) {
		t := &c.Tests[i]
		t.Adjusted = adjusted
		t.Changed = adjusted < c.Level && math.Abs(t.Change) > t.Threshold
		t.Detectable = max(t.Threshold, t.Error*stats.Detectable(1, t.degrees, level))
	}
}

// quantity makes the tests of one quantity: for each data set over all cells, for each mechanism on it, and for each
// cell on the same documents.
func (c *Comparison) quantity(q quantity.Quantity, cells []*matchedCells) {
	all := c.measuredTwice(q, cells)
	for _, m := range all {
		if m.exact {
			c.compareExactly(q, m)
		}
	}
	setSpreads(q, all)
	for _, own := range list.Group(all, func(m *matchedCells) string {
		return m.cell().Dataset
	}) {
		title := results.DatasetTitle(own[0].cell().Dataset)
		c.test(q, title, changeOf(q, own))
		private := results.Where(own, func(m *matchedCells) bool {
			return !m.cell().IsBaseline()
		})
		instance := func(m *matchedCells) results.Place { return m.cell().Instance() }
		for _, ofOne := range list.Group(private, instance) {
			c.test(q, title+", "+c.names[instance(ofOne[0])], changeOf(q, ofOne))
		}
		for _, m := range own {
			if m.sameDocuments {
				c.test(q, c.place(m.cell()), changeOf(q, []*matchedCells{m}))
			}
		}
	}
}

// measuredTwice are the cells that have a quantity in both runs; one of the text is there once, whatever the
// classifier. What the second run lacks is a reason.
func (c *Comparison) measuredTwice(q quantity.Quantity, cells []*matchedCells) []*matchedCells {
	key := func(m *matchedCells) results.Place {
		if q.OfModel {
			return withoutLabel(m.before.Place)
		}
		return withoutLabel(m.before.Text())
	}
	hasBefore := func(m *matchedCells) bool { return len(m.before.Values(q.Name)) > 0 }
	hasAfter := func(m *matchedCells) bool { return len(m.after.Values(q.Name)) > 0 }
	first := func(alike []*matchedCells) *matchedCells { return alike[0] }
	before := list.Map(list.Group(results.Where(cells, hasBefore), key), first)
	both := results.Where(before, hasAfter)
	lost := len(before) - len(both)
	if lost > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s is missing in %d cells of the second run", q.Title, lost))
	}
	return both
}

// test appends the test of a mean change, or counts it where chance is not known.
func (c *Comparison) test(q quantity.Quantity, scope string, x change) {
	t := Test{
		Quantity: q.Name,
		Scope:    scope,
		Cells:    len(x.cells),
		Before:   x.before.mean(),
		After:    x.after.mean(),
	}
	chance := x.chance(q)
	if chance.from == Untested {
		c.Once++
	}
	if math.IsNaN(t.Before) || math.IsNaN(t.After) || chance.from == "" || chance.from == Untested {
		c.Untested++
		return
	}
	t.Change = t.After - t.Before
	if x.exact && near(t.Before, t.After) {
		t.Change = 0
	}
	if c.Thresholds {
		t.Threshold = q.Threshold
	}
	t.Error = math.Sqrt(chance.variance)
	t.degrees = chance.degrees
	t.How = chance.from
	t.Test = stats.NewTest(t.Change, t.Error, chance.degrees)
	c.Tests = append(c.Tests, t)
}

// compareExactly lists the differences of one quantity in cells that must be equal.
func (c *Comparison) compareExactly(q quantity.Quantity, m *matchedCells) {
	for _, both := range m.shared() {
		before, had := both[0].At(q.Name)
		after, has := both[1].At(q.Name)
		if !had || !has || isAlike(before, after) || len(both[0].OtherResources(both[1], q.Name)) > 0 {
			continue
		}
		c.Changes = append(c.Changes, Change{
			Place:      c.place(both[0]),
			Quantity:   q.Name,
			Repetition: both[0].Repetition,
			Before:     before.Value,
			After:      after.Value,
		})
	}
}

// isAlike reports whether two numbers of equal seed and data are the same, with the items that they rest on.
func isAlike(a, b results.Measured) bool {
	sameItems := a.Items == b.Items || a.Items == "" || b.Items == ""
	return near(a.Value.Float(), b.Value.Float()) && a.Part == b.Part && a.Whole == b.Whole && sameItems
}

// near allows for another order of additions.
func near(a, b float64) bool {
	return scalar.Same(a, b) || scalar.EqualWithinRel(a, b, 1e-9)
}
