package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/datasets"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// guaranteeItems are the items of what is guaranteed, over all ε of a mechanism.
func guaranteeItems(a *analysis.Analysis, _ quantity.Quantity) (items []Item) {
	for _, own := range results.ByInstance(a.Private()) {
		isDefined := func(c results.Cell) bool { return c.Status != results.StatusUndefined }
		defined := slices.IndexFunc(own, isDefined)
		c := own[max(0, defined)]
		guarantee := guaranteeOf(c)
		reason := c.GuaranteeReason
		if defined < 0 {
			guarantee = "undefined"
			reason = c.Reason
		}
		x := Item{Place: c.Instance()}
		x.Generated = c.Generated
		items = append(items,
			x.says("guarantee", guarantee),
			x.says("Euclidean", cmp.Or(inEpsilons(c, c.GuaranteeEuclidean), NotMeasured)),
			x.says("only", c.GuaranteeScope),
			x.says("audit", auditVerdict(a, x.Place)),
			x.says("why", reason))
	}
	return items
}

// guaranteeOf is the multiple of ε and the metric that a cell guarantees, as in "2 ε, euclidean".
func guaranteeOf(c results.Cell) string {
	if c.GuaranteeMetric == "" {
		return "none"
	}
	multiple := inEpsilons(c, c.GuaranteeEpsilon)
	if multiple == "" {
		return c.GuaranteeMetric
	}
	return strings.TrimPrefix(multiple, "1 ") + ", " + c.GuaranteeMetric
}

// inEpsilons writes a number as a multiple of a cell's ε, "" where one is not known.
func inEpsilons(c results.Cell, x results.Optional) string {
	if !x.Known() || !c.Epsilon.Known() {
		return ""
	}
	return Short(x.Float()/c.Epsilon.Float()) + " ε"
}

const notRefuted = "not refuted"

// auditVerdict is what the audit says of an instance, over all ε it was audited at, with the factor by which every ε
// could be wrong that it would have found.
func auditVerdict(a *analysis.Analysis, instance results.Place) string {
	instance.Label = ""
	text := NotMeasured
	detects := 0.0
	for _, row := range a.Audit {
		if row.Instance() != instance || !row.Lower.Known() {
			continue
		}
		if row.Detects.Float() > detects { // else it is less or not known
			detects = row.Detects.Float()
		}
		bound := fmt.Sprintf("at least %s at ε = %s", Short(row.Lower.Float()), Short(row.Epsilon.Float()))
		switch {
		case row.Violated && row.Promises:
			return "refuted: " + bound
		case row.Violated:
			text = bound
		case text == NotMeasured && row.Promises:
			text = notRefuted
		case text == NotMeasured:
			text = "nothing to keep"
		}
	}
	if text == notRefuted && detects > 0 {
		text += fmt.Sprintf(" (finds %.3g×)", detects)
	}
	return text
}

// datasetItems are the items of the prepared data sets.
func datasetItems(a *analysis.Analysis, _ quantity.Quantity) (items []Item) {
	for _, d := range a.Datasets {
		items = append(items, itemsOfDataset(d)...)
	}
	return items
}

// itemsOfDataset are the items of one prepared data set.
func itemsOfDataset(d datasets.Description) []Item {
	x := Item{Place: results.Place{Dataset: d.Name, Generated: d.Generated}}
	count := func(what string, n int) Item {
		return x.saysNumber(what, Thousands(n), float64(n))
	}
	return []Item{
		count("train", d.TrainDocuments),
		count("test", d.TestDocuments),
		count("tokens", d.Tokens),
		count("vocabulary", d.Vocabulary),
		x.says("length", fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD)),
		count("classes", d.Classes),
		x.says("fingerprint", d.Fingerprint[:min(12, len(d.Fingerprint))]),
	}
}
