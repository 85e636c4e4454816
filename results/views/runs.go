package views

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/results/compare"
)

// digits suffice to show a threshold.
func digits(threshold float64) int {
	if threshold == 0 {
		return 3
	}
	return 2 + max(0, int(math.Ceil(-math.Log10(threshold))))
}

// Tests returns the tests of a comparison of two runs that found a change or,
// if there are none, the largest change of each quantity.
func Tests(c *compare.Comparison) Table {
	t := Table{Name: "tests", Title: "Tests of changes between two runs", Header: []string{"quantity", "scope", "cells",
		"before", "after", "change", "95% interval", "p (Holm)", "detectable", "chance from", "verdict"}}
	shown := slices.Clone(c.Tests)
	found := slices.ContainsFunc(shown, func(x compare.Test) bool { return x.Changed })
	largest := map[string]float64{}
	for _, x := range shown {
		largest[x.Quantity] = max(largest[x.Quantity], math.Abs(x.Change))
	}
	for _, x := range shown {
		switch {
		case found && x.Changed:
		case found || math.Abs(x.Change) < largest[x.Quantity]:
			continue
		default:
			largest[x.Quantity] = math.Inf(1) // only the first of equal ones
		}
		verdict := "same"
		if x.Changed {
			verdict = "changed"
		}
		n := digits(x.Threshold)
		change := fmt.Sprintf("%+.*f", n, x.Change)
		if x.Relative {
			change += " beyond the others"
		}
		t.AddRow(x.Quantity, x.Scope, fmt.Sprint(x.Cells), Number(x.Before, n), Number(x.After, n), change,
			fmt.Sprintf("%+.*f to %+.*f", n, x.Low, n, x.High), Probability(x.Adjusted),
			Number(x.Detectable, n), x.How, verdict)
	}
	t.Legend = fmt.Sprintf("%d cells in both runs (%d of equal seed and data, which must be equal), %d only in the "+
		"second; %d tests, Holm-corrected at %g over all of them; %d numbers without a test, for want of repetitions or "+
		"outcomes of documents. Detectable: the change that the test finds with probability 80%%.", c.Cells, c.Exact,
		c.New, len(c.Tests), c.Level, c.Untested)
	return t
}

// Changes returns the numbers that differ although seed and data are equal, at
// most so many.
func Changes(c *compare.Comparison, most int) Table {
	t := Table{Name: "changes", Title: "Numbers that differ at equal seed and data",
		Header: []string{"cell", "repetition", "quantity", "before", "after"}}
	for _, x := range c.Changes[:min(most, len(c.Changes))] {
		t.AddRow(x.Place, fmt.Sprint(x.Repetition), x.Quantity, Short(x.Before.Float()), Short(x.After.Float()))
	}
	if left := len(c.Changes) - len(t.Rows); left > 0 {
		t.Legend = fmt.Sprintf("And %d more.", left)
	}
	return t
}
