package analysis

import (
	"math"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// change is a quantity of some cells in both runs: the means over these cells of each repetition that all of them have.
type change struct {
	cells         []*matchedCells
	before, after sample
	exact         bool // all cells
	sameDocuments bool // all cells
}

// changeOf is the change of a quantity of some cells; of exact ones in the repetitions that both runs have.
func changeOf(q quantity.Quantity, cells []*matchedCells) change {
	x := change{
		cells:         cells,
		exact:         true,
		sameDocuments: true,
	}
	var before, after []share
	weight := 1 / float64(len(cells))
	for _, m := range cells {
		x.exact = x.exact && m.exact
		x.sameDocuments = x.sameDocuments && m.sameDocuments
		before = append(before, share{m.before.Cells, weight})
		after = append(after, share{m.after.Cells, weight})
	}
	x.before = weigh(before, q)
	x.after = weigh(after, q)
	if x.exact {
		x.before.keep(x.after)
		x.after.keep(x.before)
	}
	return x
}

// estimate is that of the change, paired by documents where their outcomes are stored. Repetitions of two runs have
// nothing in common: each run has its own variance.
func (x change) estimate() estimate {
	e := estimate{repetitions: min(len(x.before.means), len(x.after.means)), ofRepetitions: math.NaN()}
	if x.sameDocuments {
		paired := estimateOfDifference(x.before, x.after)
		e.ofItems = paired.ofItems
		e.items = paired.items
	}
	if e.repetitions > 1 {
		e.ofRepetitions = estimateOf(x.before).ofRepetitions + estimateOf(x.after).ofRepetitions
	}
	return e
}

// setSpreads sets the spread of the change in one repetition, which are few: pooled over the cells of one data set and
// ε, where that of a classifier is similar, or else of one mechanism, and over both runs.
func setSpreads(q quantity.Quantity, cells []*matchedCells) {
	alike := func(m *matchedCells) results.Place {
		var place results.Place
		if !q.OfModel {
			place = m.cell().Instance()
		}
		place.Dataset = m.cell().Dataset
		place.Epsilon = m.before.Epsilon
		return place
	}
	for _, own := range list.Group(cells, alike) {
		all := list.Map(own, func(m *matchedCells) estimate {
			return changeOf(q, []*matchedCells{m}).estimate()
		})
		for _, m := range own {
			m.spread = spreadOf(all, 2*len(all), 1, estimate{}, q)
		}
	}
}

// chance is how much a mean change varies by chance, and what says so: Untested where nothing is known of training, and
// nothing where neither documents nor repetitions say it. On the same documents outcomes are paired. Words and text
// differ between documents in ways that repetitions on the same ones cannot show: other documents count as a new sample
// for a classifier only.
func (x change) chance(q quantity.Quantity) spread {
	if x.exact {
		return spread{0, math.Inf(1), "equal seed and data"}
	}
	ofRepetitions := spread{0, math.Inf(1), ""}
	n := float64(len(x.cells))
	for _, m := range x.cells {
		if m.spread.from == "" {
			return spread{from: Untested}
		}
		ofRepetitions.variance += m.spread.variance / (n * n)
		ofRepetitions.degrees = min(ofRepetitions.degrees, m.spread.degrees)
	}
	e := x.estimate()
	if e.ofRepetitions > ofRepetitions.variance { // few repetitions agree by chance
		ofRepetitions.variance = e.ofRepetitions
		ofRepetitions.degrees = float64(2 * (e.repetitions - 1))
	}
	var known []string
	switch {
	case x.sameDocuments && e.items > 0:
		known = append(known, "pairs of documents")
	case !x.sameDocuments:
		e.ofItems = x.before.sampling + x.after.sampling
		if e.ofItems == 0 || !q.OfModel {
			return spread{}
		}
		known = append(known, "new documents")
	}
	training := x.cells[0].spread.from
	if training != noTraining {
		known = append(known, training)
	}
	variance, degrees := e.total(ofRepetitions)
	return spread{variance, degrees, strings.Join(known, " and ")}
}
