package views

import (
	"testing"

	"mldpbench/results"
	"mldpbench/results/analysis"
)

// A mechanism without a guarantee is said to have none in the sentence: one of ours, a
// variant as it was released, and one that a user made and that states nothing.
func TestAnswerNamesWhoHasNoGuarantee(t *testing.T) {
	cell := func(mechanism, variant, metric string) []results.Cell {
		c := results.Cell{Place: results.Place{Mechanism: mechanism, Variant: variant}}
		c.Epsilon = results.Float(1)
		c.GuaranteeMetric = metric
		return []results.Cell{c}
	}
	for _, test := range []struct {
		line analysis.Line
		want string
	}{
		{analysis.Line{Name: "CMP", Cells: cell("cmp", "proved", "euclidean")}, "CMP"},
		{analysis.Line{Name: "Vickrey, printed", Cells: cell("vickrey", "printed", "")},
			"Vickrey (printed) (no guarantee)"},
		{analysis.Line{Name: "k-th neighbour", Cells: cell("kth", "proved", "")}, "k-th neighbour (no guarantee)"},
		{analysis.Line{Name: "mine", Cells: cell("mine", "external", "")}, "mine (no guarantee)"},
		{analysis.Line{Name: "mine", Cells: cell("mine", "external", "discrete")}, "mine"},
		{analysis.Line{Name: "plain text", Cells: cell(results.BaselineMechanism, "", "")}, "plain text"},
	} {
		if got := nameInSentence(test.line); got != test.want {
			t.Errorf("the sentence says %q, want %q", got, test.want)
		}
	}
}
