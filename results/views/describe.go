package views

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"mldpbench/results"
)

// texts are items of a place.
func texts(at results.Place, name string, pairs ...string) (items []Item) {
	for k := 0; k < len(pairs); k += 2 {
		items = append(items, Item{Place: at, Name: name, Text: pairs[k+1], Quantity: results.Column{Name: pairs[k],
			Title: pairs[k]}})
	}
	return items
}

// guarantees are the items of what is promised, over all ε of a mechanism.
func (s Sheet) guarantees() (items []Item) {
	for _, i := range results.Instances(s.Private()) {
		own := results.Where(s.Private(), func(c results.Cell) bool { return c.Instance() == i })
		there := results.Where(own, func(c results.Cell) bool { return c.Status != results.StatusUndefined })
		c := own[0]
		if len(there) > 0 {
			c = there[0]
		}
		promise := cmp.Or(c.GuaranteeMetric, "none")
		if e := c.GuaranteeEpsilon; e.Known() && c.Epsilon.Known() && c.GuaranteeMetric != "" {
			if factor := e.Float() / c.Epsilon.Float(); math.Abs(factor-1) > 1e-9 {
				promise = Short(factor) + " ε, " + promise
			} else {
				promise = "ε, " + promise
			}
		}
		reason := c.GuaranteeReason
		if len(there) == 0 {
			promise, reason = "undefined", c.Reason
		}
		euclidean := NotMeasured
		if e := c.GuaranteeEuclidean; e.Known() && c.Epsilon.Known() {
			euclidean = Short(e.Float()/c.Epsilon.Float()) + " ε"
		}
		place := i
		place.Generated = c.Generated
		items = append(items, texts(place, "", "promise", promise, "Euclidean", euclidean, "only", c.GuaranteeScope,
			"audit", s.verdict(i), "why", reason)...)
	}
	return items
}

// verdict is what the audit says of an instance, over all ε it was audited at,
// with the factor by which every ε could be wrong that it would have found.
func (s Sheet) verdict(i results.Place) string {
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
		case text == NotMeasured && a.Promises:
			text = "not refuted"
		case text == NotMeasured:
			text = "nothing to keep"
		}
	}
	if text == "not refuted" && detects > 0 {
		text += fmt.Sprintf(" (finds %.3g×)", detects)
	}
	return text
}

// datasets are the items of the prepared data sets.
func (s Sheet) datasets() (items []Item) {
	for _, d := range s.Datasets {
		classes := fmt.Sprintf("%d", d.Classes)
		if len(d.ClassNames) > 0 && len(d.TrainClasses) == len(d.ClassNames) && len(d.TestClasses) == len(d.ClassNames) {
			var parts []string
			for i, name := range d.ClassNames {
				parts = append(parts, fmt.Sprintf("%s %d / %d", name, d.TrainClasses[i], d.TestClasses[i]))
			}
			classes = strings.Join(parts, ", ")
		}
		items = append(items, texts(results.Place{Dataset: d.Name, Generated: d.Generated}, "", "train",
			Thousands(d.TrainDocuments), "test", Thousands(d.TestDocuments), "tokens", Thousands(d.Tokens), "vocabulary",
			Thousands(d.Vocabulary), "length", fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD), "classes: train / test",
			classes, "fingerprint", d.Fingerprint[:min(12, len(d.Fingerprint))])...)
	}
	return items
}
