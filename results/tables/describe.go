package tables

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
)

// datasets describes the prepared data sets.
func (s sheet) datasets() Table {
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
	return t
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
func (s sheet) guarantees() Table {
	t := s.named("guarantees", "What each mechanism promises per word")
	each := list.Map(results.GroupCells(s.texts()), func(g results.Cells) results.Cell { return g.Cells[0] })
	Pivot(&t, each, []Head[results.Cell]{byDataset, bySpace, by("mechanism", s.Name), byEpsilon,
		by("metric", func(c results.Cell) string {
			if c.Status == results.StatusUndefined {
				return "undefined"
			}
			return cmp.Or(c.GuaranteeMetric, "none")
		}),
		by("guaranteed ε", func(c results.Cell) string { return formatFloat(c.GuaranteeEpsilon) }),
		by("as ε·Euclidean", func(c results.Cell) string { return formatFloat(c.GuaranteeEuclidean) }),
		by("only", func(c results.Cell) string { return c.GuaranteeScope }),
		by("why", func(c results.Cell) string {
			if c.Status == results.StatusUndefined {
				return c.Reason
			}
			return c.GuaranteeReason
		})}, nil, 2)
	return t
}

// auditTable has the bounds that an audit proved, a row per instance and a column
// per claimed ε.
func auditTable(p *results.Prepared) Table {
	t := Table{Name: "audit", Title: "Audit of claimed guarantees"}
	epsilon := func(a results.AuditRow) float64 { return float64(a.Epsilon) }
	var columns []Column[results.AuditRow]
	for _, e := range slices.Sorted(slices.Values(results.Distinct(p.Audit, epsilon))) {
		columns = append(columns, Column[results.AuditRow]{Title: epsilonTitle(e), Cell: lowerBound,
			Of: func(a results.AuditRow) bool { return epsilon(a) == e && a.Lower.Known() }})
	}
	labels := results.LabelInstances(results.Distinct(p.Audit, results.AuditRow.Instance))
	Pivot(&t, p.Audit, []Head[results.AuditRow]{{Title: "mechanism",
		Text: func(a results.AuditRow) string { return labels[a.Instance()] }}}, columns, -1)
	t.Legend = "Lower bounds on the true ε. A bound above the claimed ε of the column refutes the claim, at the audit's " +
		"stated confidence; below it nothing is proved."
	return t
}

// lowerBound is the last bound of an instance at an ε.
func lowerBound(t *Table, own []results.AuditRow) TableCell {
	if len(own) == 0 {
		return TableCell{Text: NotMeasured}
	}
	a := own[len(own)-1]
	cell := TableCell{Text: formatFloat(a.Lower)}
	if a.Violated {
		cell.Text += ", violated"
	}
	if !a.Promises {
		cell.Notes = []int{t.Note("guarantees nothing: tested against the ε it was run with")}
	}
	return cell
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
