package views

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// averaged are the means of items that differ in some coordinates alone, such as the space. They have no interval, and
// what has no number is left out.
func averaged(a *analysis.Analysis, items []Item, over []string) (out []Item) {
	if len(over) == 0 {
		return items
	}
	by := results.Where(coordinates, func(c string) bool { return !slices.Contains(over, c) })
	numbers := results.Where(items, func(i Item) bool { return !math.IsNaN(i.Value) })
	for _, own := range Group(a, numbers, by) {
		i := own.Items[0]
		i.Over = And(results.Distinct(own.Items, func(i Item) string {
			return Text(a, i, "space")
		}))
		i.Value = stats.Mean(list.Map(own.Items, func(i Item) float64 { return i.Value }))
		i.Low = math.NaN()
		i.High = math.NaN()
		i.Cells = slices.Concat(list.Map(own.Items, func(i Item) []results.Cell {
			return i.Cells
		})...)
		out = append(out, i)
	}
	return out
}

// regressionItems are the items of the least squares of a quantity on others and ε, over all texts of real data that
// have them all, each with the mean of its repetitions.
func regressionItems(a *analysis.Analysis, q quantity.Quantity, on []string) (items []Item) {
	var x [][]float64
	var y []float64
	for _, g := range results.GroupCells(results.Texts(a.Private())) {
		regressors := list.Map(on, func(name string) float64 { return valueOf(g, name) })
		regressand := valueOf(g, q.Name)
		isWhole := !slices.ContainsFunc(regressors, math.IsNaN) && !math.IsNaN(regressand)
		if isWhole && !g.Cells[0].Generated {
			x = append(x, regressors)
			y = append(y, regressand)
		}
	}
	terms, r2, err := metrics.Regress(y, x)
	if err != nil { // too few, or of one ε
		return nil
	}
	names := append([]string{"constant"}, list.Map(on, heading)...)
	i := Item{Quantity: q}
	for j, t := range terms {
		i.Term = names[j]
		items = append(items,
			i.saysNumber("coefficient", Number(t.Coefficient, 3), t.Coefficient),
			i.saysNumber("standard error", Number(t.Error, 3), t.Error),
			i.saysNumber("t", Number(t.T, 2), t.T),
			i.saysNumber("p", probability(t.P), t.P))
	}
	i.Term = "R²"
	return append(items, i.saysNumber("coefficient", fmt.Sprintf("%.3f (%d texts)", r2, len(y)), r2))
}

// valueOf is the mean of a quantity over the repetitions of a cell, or its ε.
func valueOf(g results.Cells, name string) float64 {
	if name == Epsilon {
		return g.Cells[0].Epsilon.Float()
	}
	mean, _, _ := Mean(g.Cells, name)
	return mean
}

// exampleItems are the items of recorded texts, before and after.
func exampleItems(a *analysis.Analysis, _ quantity.Quantity) (items []Item) {
	for _, c := range a.Cells {
		m, ok := c.At("example")
		if !ok {
			continue
		}
		i := Item{Place: c.Place, Scope: fmt.Sprintf("document %d", c.Repetition)}
		i.Repetition = 0
		if c.IsBaseline() {
			i.Name = plainText
		}
		items = append(items, i.saysNumber("text", m.Detail, m.Value.Float()))
	}
	return items
}
