package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
)

// datasets describes the prepared data sets.
func (s sheet) datasets() (Table, bool) {
	t := s.named("datasets", "Data sets as prepared")
	t.Header = []string{"data set", "train", "test", "tokens", "vocabulary", "length", "classes: train / test",
		"fingerprint"}
	for _, d := range s.Datasets {
		t.AddRow(results.DatasetTitle(d.Name), Thousands(d.TrainDocuments), Thousands(d.TestDocuments),
			Thousands(d.Tokens), Thousands(d.Vocabulary), fmt.Sprintf("%.2f (%.2f)", d.LengthMean, d.LengthSD),
			balance(d), d.Fingerprint[:min(12, len(d.Fingerprint))])
		t.Rows[len(t.Rows)-1][0].Separator = true
	}
	t.Legend = "Train includes validation; tokens, vocabulary and length (mean and standard deviation of tokens per " +
		"document) are those of train. Classes: documents of each, in train and in test. " +
		"The fingerprint (its first digits) is that of the prepared documents and their splits: equal fingerprints " +
		"are equal data."
	return t, len(t.Rows) > 0
}

// balance returns text such as "negative 5000 / 1000, positive 5000 / 1000".
func balance(d results.DatasetDescription) string {
	if len(d.ClassNames) == 0 || len(d.TrainClasses) != len(d.ClassNames) || len(d.TestClasses) != len(d.ClassNames) {
		return fmt.Sprintf("%d classes", d.Classes)
	}
	parts := make([]string, len(d.ClassNames))
	for i, name := range d.ClassNames {
		parts[i] = fmt.Sprintf("%s %d / %d", name, d.TrainClasses[i], d.TestClasses[i])
	}
	return strings.Join(parts, ", ")
}

// Thousands formats 808382 as 808,382, as the study does.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// guarantees returns the table of guarantees.
func (s sheet) guarantees() (Table, bool) {
	t := s.named("guarantees", "What each mechanism promises per word")
	t.Header = []string{"data set", "space", "mechanism", "ε", "metric", "guaranteed ε", "as ε·Euclidean", "only",
		"why"}
	for _, g := range results.GroupCells(s.texts()) {
		c := g.Cells[0]
		metric, why := c.GuaranteeMetric, c.GuaranteeReason
		switch {
		case c.Status == results.StatusUndefined:
			metric, why = "undefined", c.Reason
		case metric == "":
			metric = "none"
		}
		t.AddRow(results.DatasetTitle(c.Dataset), c.Space().String(), s.Name(c), formatFloat(c.Epsilon), metric,
			formatFloat(c.GuaranteeEpsilon), formatFloat(c.GuaranteeEuclidean), c.GuaranteeScope, why)
	}
	return t, len(t.Rows) > 0
}

// auditTable has the bounds that an audit proved, a row per instance and a column
// per claimed ε.
func auditTable(p *results.Prepared) (Table, bool) {
	t := Table{Name: "audit", Title: "Audit of claimed guarantees", Header: []string{"mechanism"}}
	epsilon := func(a results.AuditRow) float64 { return float64(a.Epsilon) }
	epsilons := slices.Sorted(slices.Values(results.Distinct(p.Audit, epsilon)))
	for _, e := range epsilons {
		t.Header = append(t.Header, epsilonTitle(e))
	}
	instances := results.Distinct(p.Audit, func(a results.AuditRow) results.Instance { return a.Instance() })
	labels := results.LabelInstances(instances)
	for _, i := range instances {
		row := []TableCell{{Text: labels[i]}}
		for _, e := range epsilons {
			cell := TableCell{Text: NotMeasured}
			for _, a := range p.Audit {
				if a.Instance() != i || epsilon(a) != e || !a.Lower.Known() {
					continue
				}
				if cell.Text = formatFloat(a.Lower); a.Violated {
					cell.Text += ", violated"
				}
				if !a.Promises {
					cell.Notes = []int{t.Note("guarantees nothing: tested against the ε it was run with")}
				}
			}
			row = append(row, cell)
		}
		t.Rows = append(t.Rows, row)
		t.hoist(len(t.Rows)-1, 0, 1)
	}
	t.Legend = "Lower bounds on the true ε. A bound above the claimed ε of the column refutes the claim, at the audit's " +
		"stated confidence; below it nothing is proved."
	return t, len(t.Rows) > 0
}

// formatAdjusted writes a corrected p-value.
func formatAdjusted(p float64) string {
	switch {
	case math.IsNaN(p):
		return NotMeasured
	case p < 1e-4:
		return fmt.Sprintf("%.0e", p)
	}
	return FormatNumber(p, 4)
}
