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
)

// averaged are the means of items that differ in some coordinates alone, such as the
// space. They have no interval, and what has no number is left out.
func averaged(s *analysis.Analysis, items []Item, over []string) (out []Item) {
	if len(over) == 0 {
		return items
	}
	by := results.Where(coordinates, func(c string) bool { return !slices.Contains(over, c) })
	for _, own := range Group(s, results.Where(items, func(i Item) bool { return !math.IsNaN(i.Value) }), by) {
		i := own.Items[0]
		i.Over = And(results.Distinct(own.Items, func(i Item) string { return Text(s, i, "space") }))
		mean := stats.Mean(list.Map(own.Items, func(i Item) float64 { return i.Value }))
		i.Value, i.Low, i.High = mean, math.NaN(), math.NaN()
		i.Cells = slices.Concat(list.Map(own.Items, func(i Item) []results.Cell { return i.Cells })...)
		out = append(out, i)
	}
	return out
}

// regressionItems are the items of the least squares of a quantity on others and ε, over all
// texts of real data that have them all, each with the mean of its repetitions.
func regressionItems(s *analysis.Analysis, q results.Column, on []string) (items []Item) {
	x, y := [][]float64{}, []float64{}
	for _, g := range results.GroupCells(results.Texts(s.Private())) {
		row := list.Map(append(slices.Clone(on), q.Name), func(name string) float64 {
			if name == Epsilon {
				return g.Cells[0].Epsilon.Float()
			}
			v, _, _ := Mean(g.Cells, name)
			return v
		})
		if !g.Cells[0].Generated && !slices.ContainsFunc(row, math.IsNaN) {
			x, y = append(x, row[:len(on)]), append(y, row[len(on)])
		}
	}
	terms, r2, err := metrics.Regress(y, x)
	if err != nil { // too few, or of one ε
		return nil
	}
	i := Item{Quantity: q}
	for j, t := range terms {
		i.Term = append([]string{"constant"}, list.Map(on, heading)...)[j]
		items = append(items, i.says("coefficient", Number(t.Coefficient, 3), t.Coefficient),
			i.says("standard error", Number(t.Error, 3), t.Error), i.says("t", Number(t.T, 2), t.T),
			i.says("p", Probability(t.P), t.P))
	}
	i.Term = "R²"
	return append(items, i.says("coefficient", fmt.Sprintf("%.3f (%d texts)", r2, len(y)), r2))
}

// exampleItems are the items of recorded texts, before and after.
func exampleItems(s *analysis.Analysis, _ results.Column) (items []Item) {
	for _, c := range s.Cells {
		if m, ok := c.At("example"); ok {
			i := Item{Place: c.Place, Scope: fmt.Sprintf("document %d", c.Repetition)}
			if i.Repetition = 0; c.IsBaseline() {
				i.Name = PlainText
			}
			items = append(items, i.says("text", m.Detail, m.Value.Float()))
		}
	}
	return items
}
