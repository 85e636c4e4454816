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
)

// guaranteeItems are the items of what is promised, over all ε of a mechanism.
func guaranteeItems(s *analysis.Analysis, _ results.Column) (items []Item) {
	for _, own := range results.ByInstance(s.Private()) {
		there := slices.IndexFunc(own, func(c results.Cell) bool { return c.Status != results.StatusUndefined })
		c := own[max(0, there)]
		promise, reason := cmp.Or(c.GuaranteeMetric, "none"), c.GuaranteeReason
		if e := c.GuaranteeEpsilon; e.Known() && c.Epsilon.Known() && c.GuaranteeMetric != "" {
			promise = strings.TrimPrefix(Short(e.Float()/c.Epsilon.Float())+" ε, ", "1 ") + promise
		}
		if there < 0 {
			promise, reason = "undefined", c.Reason
		}
		euclidean := NotMeasured
		if e := c.GuaranteeEuclidean; e.Known() && c.Epsilon.Known() {
			euclidean = Short(e.Float()/c.Epsilon.Float()) + " ε"
		}
		x := Item{Place: c.Instance()}
		x.Generated = c.Generated
		items = append(items, x.says("promise", promise), x.says("Euclidean", euclidean), x.says("only", c.GuaranteeScope),
			x.says("audit", verdict(s, x.Place)), x.says("why", reason))
	}
	return items
}

// verdict is what the audit says of an instance, over all ε it was audited at,
// with the factor by which every ε could be wrong that it would have found.
func verdict(s *analysis.Analysis, i results.Place) string {
	i.Label = ""
	text, detects := NotMeasured, 0.0
	for _, a := range s.Audit {
		if a.Instance() != i || !a.Lower.Known() {
			continue
		}
		if d := a.Detects.Float(); d > detects {
			detects = d
		}
		bound := fmt.Sprintf("at least %s at ε = %s", Short(a.Lower.Float()), Short(a.Epsilon.Float()))
		switch {
		case a.Violated && a.Promises:
			return "refuted: " + bound
		case a.Violated:
			text = bound
		case text == NotMeasured:
			text = map[bool]string{true: "not refuted", false: "nothing to keep"}[a.Promises]
		}
	}
	if text == "not refuted" && detects > 0 {
		text += fmt.Sprintf(" (finds %.3g×)", detects)
	}
	return text
}

// datasetItems are the items of the prepared data sets.
func datasetItems(s *analysis.Analysis, _ results.Column) (items []Item) {
	for _, d := range s.Datasets {
		x := Item{Place: results.Place{Dataset: d.Name, Generated: d.Generated}}
		count := func(what string, n int) Item { return x.says(what, Thousands(n), float64(n)) }
		items = append(items, count("train", d.TrainDocuments), count("test", d.TestDocuments), count("tokens", d.Tokens),
			count("vocabulary", d.Vocabulary), x.says("length", fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD)),
			count("classes", d.Classes), x.says("fingerprint", d.Fingerprint[:min(12, len(d.Fingerprint))]))
	}
	return items
}

// Compared are the tables of a comparison of two runs: the first changes, and the
// tests that found one or, if there are none, the largest change of each quantity; of
// most < 0 every change and test.
func Compared(c *analysis.Comparison, most int) []Table {
	shown := *c
	if most >= 0 {
		shown.Tests, shown.Changes = found(c.Tests), c.Changes[:min(most, len(c.Changes))]
	}
	views := Builtin().Runs
	for i := range views {
		for name, value := range map[string]any{"changes": len(c.Changes), "cells": c.Cells, "exact": c.Exact, "new": c.New,
			"tests": len(c.Tests), "level": c.Level, "untested": c.Untested} {
			views[i].Legend = strings.ReplaceAll(views[i].Legend, "{"+name+"}", fmt.Sprint(value))
		}
	}
	empty := analysis.Of(&results.Prepared{}, results.Levels{})
	taken := map[string]bool{}
	var all []Table
	for _, v := range views {
		items := changeItems(&shown)
		if v.From == "tests" {
			items = testItems(&shown)
		}
		all = append(all, tablesOf(empty, v, split(empty, v, v.where(empty, items)), taken)...)
	}
	return all
}

// found are the tests that found a change or, if there are none, the first of the
// largest changes of each quantity.
func found(all []analysis.Test) []analysis.Test {
	if changed := results.Where(all, func(x analysis.Test) bool { return x.Changed }); len(changed) > 0 {
		return changed
	}
	larger := func(a, b analysis.Test) int { return cmp.Compare(math.Abs(a.Change), math.Abs(b.Change)) }
	each := list.Group(all, func(x analysis.Test) string { return x.Quantity })
	return list.Map(each, func(own []analysis.Test) analysis.Test { return slices.MaxFunc(own, larger) })
}

// digits suffice to show a threshold, by default one of 0.1.
func digits(threshold float64) int {
	return 2 + max(0, int(math.Ceil(-math.Log10(cmp.Or(threshold, 0.1)))))
}

// named is an item of a quantity of two runs, by the name of the quantity in files.
func named(quantity, scope string) Item {
	return Item{Scope: scope, Quantity: results.Column{Name: quantity, Title: quantity}}
}

// changeItems are the items of numbers that differ although seed and data are equal.
func changeItems(c *analysis.Comparison) (items []Item) {
	for _, x := range c.Changes {
		at, before, after := named(x.Quantity, x.Place), x.Before.Float(), x.After.Float()
		at.Repetition = x.Repetition
		items = append(items, at.says("before", Short(before), before), at.says("after", Short(after), after))
	}
	return items
}

// testItems are the items of the tests of changes between two runs.
func testItems(c *analysis.Comparison) (items []Item) {
	for _, x := range c.Tests {
		at, n := named(x.Quantity, x.Scope), digits(x.Threshold)
		number := func(what string, v float64) Item { return at.says(what, Number(v, n), v) }
		change := at.says("change", fmt.Sprintf("%+.*f ± %.*f", n, x.Change, n, (x.High-x.Low)/2), x.Change, x.Low, x.High)
		items = append(items, at.says("cells", fmt.Sprint(x.Cells), float64(x.Cells)), number("before", x.Before),
			number("after", x.After), change, at.says("p (Holm)", Probability(x.Adjusted), x.Adjusted),
			number("detectable", x.Detectable), at.says("chance from", x.How),
			at.says("verdict", map[bool]string{false: "same", true: "changed"}[x.Changed]))
	}
	return items
}
