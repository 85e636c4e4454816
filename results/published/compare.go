package published

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// How a mechanism was run.
const (
	asRun       = "as run"       // as the study's own code computes, on its texts: the study replication
	asFitted    = "as fitted"    // other parameters, which the printed text fits better: the study replication-fits
	asDescribed = "as described" // by its definition: the study comparative
)

// encoder is that of the study.
const encoder = "paraphrase-distilroberta-base-v1"

// documents are the test documents of the study: a sample is another number.
var documents = map[string]int{"agnews": 4000, "imdb": 2000}

// otherParameters are those that are not the study's.
var otherParameters = map[string]string{"mahalanobis": "lambda=0.5", "tem": "gamma=0.5"}

// fitted are the mechanisms whose text the printed one fits, with their rows in print.
var fitted = map[results.Place]string{
	{Mechanism: "santext-plus", Variant: "proved", Parameters: "p=0.3 w=0.9"}: "santext",
	{Mechanism: "mahalanobis", Variant: "as-run", Parameters: "lambda=0.5"}:   "mahalanobis",
}

// way is how the cells of a study were run.
type way struct{ as, variant, model, policy string }

// inPrint says how a cell was run and where its numbers are printed; ok is false where that is nowhere: other vectors,
// texts, variants or models.
func inPrint(c results.Cell) (n Number, ok bool) {
	dataset, ofCode := strings.CutSuffix(c.Dataset, "-2024")
	n.Place = results.Place{
		Dataset:   dataset,
		Dimension: c.Dimension,
		Mechanism: c.Mechanism,
		Epsilon:   c.Epsilon,
	}
	run := way{asDescribed, "proved", "lstm", "keep"}
	if ofCode {
		run = way{asRun, "as-run", "lstm-2024", "keep"}
	}
	row, isFitted := fitted[c.Instance()]
	if isFitted && ofCode {
		run.as = asFitted
		run.policy = "random"
		n.Mechanism = row
	} else if !run.hasMechanism(c) {
		return n, false
	}
	n.As = run.as
	hasModel := c.Model == "" || c.Model == run.model
	hasPolicy := c.Policy == "" || c.Policy == run.policy
	hasTexts := !c.Generated && c.TestItems == documents[dataset]
	hasVectors := strings.HasPrefix(strings.ToLower(c.Embedding), "glove.6b")
	return n, hasModel && hasPolicy && hasTexts && hasVectors
}

// hasMechanism reports whether a cell has the study's variant and parameters.
func (w way) hasMechanism(c results.Cell) bool {
	if !c.IsBaseline() && c.Variant != w.variant {
		return false
	}
	other := otherParameters[c.Mechanism]
	return other == "" || !strings.Contains(c.Parameters, other)
}

// Compare joins the printed numbers with those of results, in the order of the paper's tables: all that both have, at
// every dimension.
func Compare(p *results.Prepared) (all []Number) {
	cells := results.Where(p.Cells, func(c results.Cell) bool {
		_, ok := inPrint(c)
		return ok
	})
	measured := measuredNumbers(cells)
	encoderIsOther := slices.ContainsFunc(cells, hasOtherEncoder)
	for _, how := range []string{asRun, asFitted, asDescribed} {
		for _, printed := range Printed() {
			for _, setting := range []string{"", "train-only", "local"} {
				n := Number{
					Place:    printed.Place,
					As:       how,
					Quantity: printed.Quantity,
				}
				n.Setting = setting
				ours, ran := measured[n]
				if !ran {
					continue
				}
				n.Printed = printed.Printed
				n = n.beside(ours)
				if encoderIsOther && n.N > 0 && quantity.Must(n.Quantity).OfEncoder {
					n.Verdict = otherEncoder
				}
				all = append(all, n)
			}
		}
	}
	return all
}

// hasOtherEncoder reports whether something was measured by another encoder than the study's.
func hasOtherEncoder(c results.Cell) bool {
	return slices.ContainsFunc(c.Quantities(), func(name string) bool {
		q := quantity.Must(name)
		m, _ := c.At(name)
		return q.OfEncoder && !q.Derived && !strings.HasSuffix(m.Detail, encoder)
	})
}

// measuredNumbers are the cells of the printed quantities, by place, way and quantity. What is of the text is there
// once, whatever the classifiers.
func measuredNumbers(cells []results.Cell) map[Number]results.Cells {
	measured := map[Number]results.Cells{}
	texts := results.GroupCells(results.Texts(cells))
	classified := results.GroupCells(cells)
	for _, name := range results.Distinct(Printed(), func(n Number) string {
		return n.Quantity
	}) {
		ofModel := quantity.Must(name).OfModel
		groups := texts
		if ofModel {
			groups = classified
		}
		for _, g := range groups {
			c := g.Cells[0]
			if len(g.Values(name)) == 0 && c.Status != results.StatusUndefined {
				continue
			}
			n, _ := inPrint(c)
			n.Quantity = name
			if ofModel && !c.IsBaseline() {
				n.Setting = c.Setting
			}
			measured[n] = g
		}
	}
	return measured
}

// sentence counts the verdicts and says the rule.
func sentence(all []Number) string {
	counts := map[Verdict]int{}
	for _, n := range all {
		counts[n.Verdict]++
	}
	return fmt.Sprintf("Of %d printed numbers %d are the same to the digits, %d near, %d apart, and %d undefined "+
		"here. %s", len(all)-counts[otherEncoder], counts[Same], counts[Near], counts[Apart], counts[undefined], rule)
}

// Tables are the printed numbers beside ours, one a row, all or those of some
// quantities; none where there are none.
func Tables(p *results.Prepared, quantities ...string) []views.Table {
	all := results.Where(Compare(p), func(n Number) bool {
		return len(quantities) == 0 || slices.Contains(quantities, n.Quantity)
	})
	if len(all) == 0 {
		return nil
	}
	t := views.Table{
		Name:   "published",
		Title:  "Printed by Meisenbacher et al. 2024, and here",
		Legend: sentence(all),
		Header: []string{"run", "data set", "d", "mechanism", "ε", "quantity", "printed", "ours", "difference",
			"verdict"},
	}
	for _, n := range all {
		quantity := quantity.Must(n.Quantity).Title
		if n.Setting != "" {
			quantity += ", " + n.Setting
		}
		ours := ""
		difference := ""
		if n.N > 0 {
			ours = views.Number(n.Ours, n.digits())
			difference = fmt.Sprintf("%+.*f", n.digits(), n.Ours-n.Printed)
		}
		t.AddRow(n.As, results.DatasetTitle(n.Dataset), strconv.Itoa(n.Dimension), results.MechanismTitle(n.Mechanism),
			n.Epsilon.String(), quantity, views.Number(n.Printed, n.digits()), ours, difference, string(n.Verdict))
	}
	return []views.Table{t}
}
