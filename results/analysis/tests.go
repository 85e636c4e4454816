package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// quantity makes the tests of one quantity: for each data set over all cells, for
// each mechanism on it, and for each cell on the same documents.
func (c *Comparison) quantity(q results.Column, pairs []*pair) {
	of := func(p *pair) results.Place {
		if q.OfModel {
			return matched(p.before.Place)
		}
		return matched(p.before.Text()) // whatever the classifier
	}
	before := results.Where(pairs, func(p *pair) bool { return len(p.before.Values(q.Name)) > 0 })
	measured := list.Map(list.Group(before, of), func(same []*pair) *pair { return same[0] })
	all := results.Where(measured, func(p *pair) bool { return len(p.after.Values(q.Name)) > 0 })
	if lost := len(measured) - len(all); lost > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s is missing in %d cells of the second run", q.Title, lost))
	}
	for _, p := range results.Where(all, func(p *pair) bool { return p.exact }) {
		c.exact(q, p)
	}
	poolRepetitions(q, all)
	for _, own := range list.Group(all, func(p *pair) string { return p.cell().Dataset }) {
		title := results.DatasetTitle(own[0].cell().Dataset)
		c.test(q, title, changeOf(q, own))
		private := results.Where(own, func(p *pair) bool { return !p.cell().IsBaseline() })
		for _, of := range list.Group(private, func(p *pair) results.Place { return p.cell().Instance() }) {
			c.test(q, title+", "+c.names[of[0].cell().Instance()], changeOf(q, of))
		}
		for _, p := range own {
			if p.sameDocuments {
				c.test(q, c.place(p.cell()), changeOf(q, []*pair{p}))
			}
		}
	}
}

// change is a quantity of some cells in both runs: the means over these cells of
// each repetition that all of them have.
type change struct {
	cells                []*pair
	before, after        sampleOf
	exact, sameDocuments bool // all cells
}

func changeOf(q results.Column, cells []*pair) change {
	x := change{cells: cells, exact: true, sameDocuments: true}
	var before, after []share
	for _, p := range cells {
		x.exact, x.sameDocuments = x.exact && p.exact, x.sameDocuments && p.sameDocuments
		before = append(before, share{p.before.Cells, 1 / float64(len(cells))})
		after = append(after, share{p.after.Cells, 1 / float64(len(cells))})
	}
	x.before, x.after = weigh(before, q), weigh(after, q)
	if x.exact { // equal repetitions only
		a, b := x.before.means, x.after.means
		maps.DeleteFunc(a, func(r int, _ float64) bool { _, both := b[r]; return !both })
		maps.DeleteFunc(b, func(r int, _ float64) bool { _, both := a[r]; return !both })
	}
	return x
}

// mean is that of the repetitions.
func (s sampleOf) mean() float64 {
	return stats.Mean(list.Map(slices.Sorted(maps.Keys(s.means)), func(r int) float64 { return s.means[r] }))
}

// estimate is that of the change, paired by documents where their outcomes are
// stored. Repetitions of two runs have nothing in common: each run has its own
// variance.
func (x change) estimate() estimate {
	e := estimate{repetitions: min(len(x.before.means), len(x.after.means)), ofRepetitions: math.NaN()}
	if x.sameDocuments {
		paired := estimateOf(x.before, &x.after)
		e.items, e.n = paired.items, paired.n
	}
	if e.repetitions > 1 {
		e.ofRepetitions = estimateOf(x.before, nil).ofRepetitions + estimateOf(x.after, nil).ofRepetitions
	}
	return e
}

// poolRepetitions sets the variance of the change in one repetition, which are
// few: pooled over the cells of one data set and ε, where that of a classifier is
// similar, or else of one mechanism, and over both runs.
func poolRepetitions(q results.Column, cells []*pair) {
	of := func(p *pair) results.Place {
		var b results.Place
		if !q.OfModel {
			b = p.cell().Instance()
		}
		b.Dataset, b.Epsilon = p.cell().Dataset, p.before.Epsilon
		return b
	}
	for _, own := range list.Group(cells, of) {
		all := list.Map(own, func(p *pair) estimate { return changeOf(q, []*pair{p}).estimate() })
		for _, p := range own {
			p.ofOne, p.df, p.training = spread(all, 2*len(all), 1, estimate{}, q)
		}
	}
}

// chance is how much a mean change varies by chance, and what says so: Untested where
// nothing is known of training, and nothing where neither documents nor repetitions
// say it. On the same documents outcomes are paired. Words and text differ between
// documents in ways that repetitions on the same ones cannot show: other documents
// count as a new sample for a classifier only.
func (x change) chance(q results.Column) (variance, df float64, how string) {
	if x.exact {
		return 0, math.Inf(1), "equal seed and data"
	}
	part, df, n := 0.0, math.Inf(1), float64(len(x.cells))
	for _, p := range x.cells {
		if part, df = part+p.ofOne/(n*n), min(df, p.df); p.training == "" {
			return 0, 0, Untested
		}
	}
	var known []string
	e := x.estimate()
	if e.ofRepetitions > part { // few repetitions agree by chance
		part, df = e.ofRepetitions, float64(2*(e.repetitions-1))
	}
	switch {
	case x.sameDocuments && e.n > 0:
		known = []string{"pairs of documents"}
	case !x.sameDocuments:
		if e.items = x.before.sampling + x.after.sampling; e.items == 0 || !q.OfModel {
			return 0, 0, ""
		}
		known = []string{"new documents"}
	}
	if training := x.cells[0].training; training != noTraining {
		known = append(known, training)
	}
	variance, df = e.total(part, df)
	return variance, df, strings.Join(known, " and ")
}

// test appends the test of a mean change, or counts it where chance is not known.
func (c *Comparison) test(q results.Column, scope string, x change) {
	t := Test{Quantity: q.Name, Scope: scope, Cells: len(x.cells), Before: x.before.mean(), After: x.after.mean()}
	variance, df, how := x.chance(q)
	if how == Untested {
		c.Once++
	}
	if math.IsNaN(t.Before) || math.IsNaN(t.After) || how == "" || how == Untested {
		c.Untested++
		return
	}
	if t.Change = t.After - t.Before; x.exact && near(t.Before, t.After) {
		t.Change = 0
	}
	if c.Thresholds {
		t.Threshold = q.Threshold
	}
	t.Error, t.df, t.How = math.Sqrt(variance), df, how
	t.Test = stats.NewTest(t.Change, t.Error, df)
	c.Tests = append(c.Tests, t)
}
