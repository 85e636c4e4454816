package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// change is a quantity of some cells in both runs: the means over these cells of
// each repetition that all of them have.
type change struct {
	cells         []pair
	before, after sampleOf
}

// quantity makes the tests of one quantity: for each data set over all cells,
// for each mechanism on it, and for each cell.
func (c *Comparison) quantity(q results.Column, pairs []pair, o Options) {
	var all []pair
	lost := 0
	seen := map[results.Place]bool{}
	for _, p := range pairs {
		g := matched(p.before.Place)
		if !q.OfModel { // measured of the text, whatever the classifier
			g = g.Text()
		}
		if seen[g] || len(p.before.Values(q.Name)) == 0 {
			continue
		}
		if seen[g] = true; len(p.after.Values(q.Name)) == 0 {
			lost++
			continue
		}
		if p.exact {
			c.exact(q, p)
		}
		all = append(all, p)
	}
	if lost > 0 {
		c.Reasons = append(c.Reasons, fmt.Sprintf("%s is missing in %d cells of the second run", q.Title, lost))
	}
	poolRepetitions(q, all)
	for _, dataset := range results.Distinct(all, func(p pair) string { return p.cell().Dataset }) {
		own := results.Where(all, func(p pair) bool { return p.cell().Dataset == dataset })
		title := results.DatasetTitle(dataset)
		c.test(q, o, title, changeOf(q, own), nil)
		private := results.Where(own, func(p pair) bool { return !p.cell().IsBaseline() })
		mechanisms := results.Distinct(private, func(p pair) results.Place { return p.cell().Instance() })
		var changes []change
		for _, i := range mechanisms {
			of := results.Where(private, func(p pair) bool { return p.cell().Instance() == i })
			changes = append(changes, changeOf(q, of))
		}
		for k, i := range mechanisms {
			var others []float64
			for j, x := range changes {
				if j != k && len(x.before.means) > 0 && len(x.after.means) > 0 {
					others = append(others, x.mean())
				}
			}
			c.test(q, o, title+", "+c.names[i], changes[k], others)
		}
		for _, p := range own {
			if p.sameDocuments {
				c.test(q, o, c.place(p.cell()), changeOf(q, []pair{p}), nil)
			}
		}
	}
}

func changeOf(q results.Column, cells []pair) change {
	side := func(of func(pair) results.Cells) sampleOf {
		var all []share
		for _, p := range cells {
			all = append(all, share{&point{cells: of(p).Cells}, 1 / float64(len(cells))})
		}
		return weigh(all, q.Name, scaleOf(q))
	}
	x := change{cells, side(func(p pair) results.Cells { return p.before }),
		side(func(p pair) results.Cells { return p.after })}
	if x.exact() { // equal repetitions only
		notIn := func(other sampleOf) func(int, float64) bool {
			return func(r int, _ float64) bool { _, both := other.means[r]; return !both }
		}
		maps.DeleteFunc(x.before.means, notIn(x.after))
		maps.DeleteFunc(x.after.means, notIn(x.before))
	}
	return x
}

// exact reports whether all cells are of equal seed and data.
func (x change) exact() bool {
	return !slices.ContainsFunc(x.cells, func(p pair) bool { return !p.exact })
}

func (x change) sameDocuments() bool {
	return !slices.ContainsFunc(x.cells, func(p pair) bool { return !p.sameDocuments })
}

func (x change) mean() float64 { return x.after.mean() - x.before.mean() }

// mean is that of the repetitions.
func (s sampleOf) mean() float64 { return stats.Mean(s.byRepetition()) }

// byRepetition are the means in the order of repetitions.
func (s sampleOf) byRepetition() []float64 {
	return list.Map(slices.Sorted(maps.Keys(s.means)), func(r int) float64 { return s.means[r] })
}

// spread is how much a mean change varies by chance, and what says so.
type spread struct {
	variance, df float64
	how          string
}

// spread is that of the items and repetitions of the cells themselves; there is
// none where neither is known. On the same documents outcomes are paired. Words
// and text differ between documents in ways that repetitions on the same ones
// cannot show: other documents count as a new sample for a classifier only.
func (x change) spread(q results.Column) (s spread, known bool) {
	if x.exact() {
		return spread{0, math.Inf(1), "equal seed and data"}, true
	}
	own := x.estimate()
	part, df := own.ofRepetitions, float64(2*(own.repetitions-1))
	if pooled, of := x.pooled(); pooled > part || math.IsNaN(part) { // few repetitions agree by chance
		part, df = pooled, of
	}
	if math.IsNaN(part) { // of one repetition it is not known
		if q.OfModel || q.Attacker != "" {
			return spread{how: Untested}, false
		}
		part, df = 0, math.Inf(1)
	}
	items, same := own.items, x.sameDocuments()
	switch {
	case same && own.n > 0:
		s.how = "pairs of documents"
	case own.repetitions > 1:
		s.how = "repetitions"
	}
	if own.repetitions < 2 && part > 0 {
		s.how = strings.TrimPrefix(s.how+" and the repetitions of plain text", " and ")
	}
	if !same {
		items = x.before.sampling + x.after.sampling
		if !q.OfModel || items == 0 {
			return s, false
		}
		s.how = strings.TrimPrefix(s.how+" and new documents", " and ")
	}
	s.variance, s.df = estimate{items: items, repetitions: own.repetitions}.total(part, df, 0)
	return s, s.how != ""
}

// estimate is that of the change, paired by documents where their outcomes are
// stored. Repetitions of two runs have nothing in common: each run has its own
// variance.
func (x change) estimate() estimate {
	e := estimate{repetitions: min(len(x.before.means), len(x.after.means))}
	if paired, ok := estimateOf(x.before, &x.after); ok && x.sameDocuments() {
		e.items, e.n = paired.items, paired.n
	}
	a, _ := estimateOf(x.before, nil)
	b, _ := estimateOf(x.after, nil)
	if e.ofRepetitions = a.ofRepetitions + b.ofRepetitions; e.repetitions < 2 {
		e.ofRepetitions = math.NaN()
	}
	return e
}

// pooled is the variance of the change in one repetition where cells are
// independent, each with that of its block.
func (x change) pooled() (variance, df float64) {
	n := float64(len(x.cells))
	df = math.Inf(1)
	for _, p := range x.cells {
		variance, df = variance+p.ofOne/(n*n), min(df, p.df)
	}
	return variance, df
}

// poolRepetitions sets the variance of the change in one repetition, which are
// few: pooled over the cells of one data set and ε, where that of a classifier is
// similar, or else of one mechanism, and over both runs. Where each has one
// repetition, that of a classifier is the one of the plain text.
func poolRepetitions(q results.Column, cells []pair) {
	of := func(p pair) results.Place {
		b := results.Place{Dataset: p.cell().Dataset, Epsilon: p.before.Epsilon}
		if !q.OfModel {
			i := p.cell().Instance()
			b.Mechanism, b.Variant, b.Parameters = i.Mechanism, i.Variant, i.Parameters
		}
		return b
	}
	all := map[results.Place][]estimate{}
	for _, p := range cells {
		e := changeOf(q, []pair{p}).estimate()
		if all[of(p)] = append(all[of(p)], e); p.cell().IsBaseline() && q.OfModel {
			plain := results.Place{Dataset: p.cell().Dataset, Mechanism: results.BaselineMechanism}
			all[plain] = append(all[plain], e)
		}
	}
	known := func(at results.Place) []estimate {
		return results.Where(all[at], func(e estimate) bool { return !math.IsNaN(e.ofRepetitions) })
	}
	for i, p := range cells {
		own := known(of(p))
		if len(own) == 0 && q.OfModel {
			own = known(results.Place{Dataset: p.cell().Dataset, Mechanism: results.BaselineMechanism})
		}
		cells[i].ofOne, cells[i].df = pool(own, 2*len(own))
	}
}

// fewestOthers is how many other mechanisms must be there for their changes to
// show what chance does to one.
const fewestOthers = 5

// test appends the test of a mean change, or counts it where its spread is not
// known. A mechanism is compared with the others, whose own changes show what
// another seed, other words and other documents do to a classifier.
func (c *Comparison) test(q results.Column, o Options, scope string, x change, others []float64) {
	if len(x.before.means) == 0 || len(x.after.means) == 0 {
		c.Untested++
		return
	}
	t := Test{Quantity: q.Name, Scope: scope, Cells: len(x.cells), Before: x.before.mean(), After: x.after.mean(),
		Change: x.mean()}
	s, known := x.spread(q)
	if k := float64(len(others)); len(others) >= fewestOthers && q.OfModel && !x.exact() {
		t.Change, t.Relative = t.Change-stats.Mean(others), true
		if v := stat.Variance(others, nil) * (1 + 1/k); !known || v >= s.variance || !x.sameDocuments() {
			s, known = spread{v, k - 1, "changes of the other mechanisms"}, true
		}
	}
	if !known {
		if c.Untested++; s.how == Untested {
			c.Once++
		}
		return
	}
	if o.Thresholds {
		t.Threshold = q.Threshold
	}
	if x.exact() && near(t.Before, t.After) {
		t.Change = 0
	}
	t.Error, t.df, t.How = math.Sqrt(s.variance), s.df, s.how
	test := stats.NewTest(t.Change, t.Error, s.df)
	t.P, t.Low, t.High = test.P, test.Low, test.High
	c.Tests = append(c.Tests, t)
}
