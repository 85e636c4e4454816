package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// Compared are the tables of a comparison of two runs: the first changes, and the tests that found one or, if there are
// none, the largest change of each quantity; of most < 0 every change and test.
func Compared(c *analysis.Comparison, most int) (all []Table) {
	changes := c.Changes
	tests := c.Tests
	if most >= 0 {
		changes = c.Changes[:min(most, len(c.Changes))]
		tests = foundBy(c.Tests)
	}
	counts := strings.NewReplacer(
		"{changes}", fmt.Sprint(len(c.Changes)),
		"{cells}", fmt.Sprint(c.Cells),
		"{exact}", fmt.Sprint(c.Exact),
		"{new}", fmt.Sprint(c.New),
		"{tests}", fmt.Sprint(len(c.Tests)),
		"{level}", fmt.Sprint(c.Level),
		"{untested}", fmt.Sprint(c.Untested),
	)
	nothing := analysis.Of(&results.Prepared{}, quantity.Levels{}) // items of two runs are of no place
	taken := map[string]bool{}
	for _, v := range Builtin().Runs {
		v.Legend = counts.Replace(v.Legend)
		items := changeItems(changes)
		if v.From == "tests" {
			items = testItems(tests)
		}
		all = append(all, tablesOf(nothing, v, split(nothing, v, v.where(nothing, items)), taken)...)
	}
	return all
}

// foundBy are the tests that found a change or, if there are none, the first of the largest changes of each quantity.
func foundBy(all []analysis.Test) []analysis.Test {
	changed := results.Where(all, func(x analysis.Test) bool { return x.Changed })
	if len(changed) > 0 {
		return changed
	}
	bySize := func(a, b analysis.Test) int {
		return cmp.Compare(math.Abs(a.Change), math.Abs(b.Change))
	}
	each := list.Group(all, func(x analysis.Test) string { return x.Quantity })
	return list.Map(each, func(own []analysis.Test) analysis.Test {
		return slices.MaxFunc(own, bySize)
	})
}

// digits suffice to show a threshold, by default one of 0.1.
func digits(threshold float64) int {
	return 2 + max(0, int(math.Ceil(-math.Log10(cmp.Or(threshold, 0.1)))))
}

// itemOfRuns is an item of a quantity of two runs, by the name of the quantity in files.
func itemOfRuns(name, scope string) Item {
	return Item{Scope: scope, Quantity: quantity.Quantity{Name: name, Title: name}}
}

// changeItems are the items of numbers that differ although seed and data are equal.
func changeItems(changes []analysis.Change) (items []Item) {
	for _, x := range changes {
		at := itemOfRuns(x.Quantity, x.Place)
		at.Repetition = x.Repetition
		before := x.Before.Float()
		after := x.After.Float()
		items = append(items,
			at.saysNumber("before", Short(before), before),
			at.saysNumber("after", Short(after), after))
	}
	return items
}

// testItems are the items of the tests of changes between two runs.
func testItems(tests []analysis.Test) (items []Item) {
	for _, x := range tests {
		at := itemOfRuns(x.Quantity, x.Scope)
		n := digits(x.Threshold)
		number := func(what string, v float64) Item {
			return at.saysNumber(what, Number(v, n), v)
		}
		change := fmt.Sprintf("%+.*f ± %.*f", n, x.Change, n, (x.High-x.Low)/2)
		outcome := "same"
		if x.Changed {
			outcome = "changed"
		}
		items = append(items,
			at.saysNumber("cells", fmt.Sprint(x.Cells), float64(x.Cells)),
			number("before", x.Before),
			number("after", x.After),
			at.saysWithin("change", change, x.Change, x.Low, x.High),
			at.saysNumber("p (Holm)", probability(x.Adjusted), x.Adjusted),
			number("detectable", x.Detectable),
			at.says("chance from", x.How),
			at.says("verdict", outcome))
	}
	return items
}
