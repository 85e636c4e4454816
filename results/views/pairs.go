package views

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// pairItems are the items of the tests of all pairs.
func pairItems(a *analysis.Analysis, q quantity.Quantity) (items []Item) {
	use := compared(a, q)
	for _, s := range scenes(a, q) {
		for _, p := range s.Pairs {
			at := Item{
				Place:    s.Lines[p.A].Place,
				Against:  a.MarkedName(s.Lines[p.B].Place),
				At:       s.At,
				Privacy:  s.Privacy,
				Quantity: quantity.Quantity{Name: use.Name, Title: use.Title},
			}
			if s.Training == "" {
				at.Notes = []string{"not tested: " + analysis.Untested}
			}
			items = append(items, at.tested(p, use, 1)...)
		}
	}
	return items
}

// tested are the statistics of a pair, in units of a quantity.
func (i Item) tested(p analysis.Pair, use quantity.Quantity, unit float64) []Item {
	difference := unit * p.Difference
	low := unit * p.Low
	high := unit * p.High
	detectable := unit * p.Detectable
	text := fmt.Sprintf("%+.2f", difference)
	if !math.IsNaN(low) {
		text += fmt.Sprintf(" ± %.2f", (high-low)/2)
	}
	return []Item{
		i.saysWithin("difference", text, difference, low, high),
		i.saysNumber("p (Holm)", probability(p.Adjusted), p.Adjusted),
		i.says("verdict", verdict(p, use)),
		i.saysNumber("minimum detectable", Number(detectable, 2), detectable),
	}
}

// versionItems are the items of the tests of all pairs of what has outcomes of documents, in points of 100.
func versionItems(a *analysis.Analysis, use quantity.Quantity) (items []Item) {
	hasOutcomes := func(c results.Cell) bool {
		m, _ := c.At(use.Name)
		return m.Right() != nil
	}
	if use.Derived || !slices.ContainsFunc(a.Private(), hasOutcomes) {
		return nil
	}
	unit := 100.0
	if use.Counted {
		unit = 1
	}
	versions := a.Versions(use.Name)
	for _, p := range versions.Pairs {
		other := versions.Lines[p.B]
		at := Item{
			Place:    versions.Lines[p.A].Place,
			Against:  other.Name,
			Quantity: use,
		}
		if !math.IsNaN(other.Epsilon) {
			at.Against += ", ε = " + Short(other.Epsilon)
		}
		items = append(items, at.tested(p, use, unit)...)
	}
	return items
}

// verdict says what the tests of a pair found.
func verdict(p analysis.Pair, use quantity.Quantity) string {
	switch {
	case math.IsNaN(p.P):
		return "not tested"
	case p.Different:
		return "significantly different"
	case p.Equivalent:
		return fmt.Sprintf("equivalent (± %g)", analysis.Margin(use))
	case math.IsNaN(p.Detectable):
		return "no significant difference"
	}
	detectable := Number(p.Detectable, 1+max(0, use.Digits-2))
	return fmt.Sprintf("no significant difference (minimum detectable: %s)", detectable)
}

// probability writes a corrected p-value.
func probability(p float64) string {
	if p < 1e-4 {
		return fmt.Sprintf("%.0e", p)
	}
	return Number(p, 4)
}
