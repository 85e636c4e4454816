package published

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mldpbench/results"
	"mldpbench/results/views"
)

// How a mechanism was run.
const (
	AsRun       = "as run"       // as the study's own code computes, on its texts: the study replication
	AsFitted    = "as fitted"    // other parameters, which the printed text fits better: the study replication-fits
	AsDescribed = "as described" // by its definition: the study comparative
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

// inPrint says how a cell was run and where its numbers are printed; ok is false where
// that is nowhere: other vectors, texts, variants or models.
func inPrint(c results.Cell) (n Number, ok bool) {
	dataset, ofCode := strings.CutSuffix(c.Dataset, "-2024")
	n.Place = results.Place{Dataset: dataset, Dimension: c.Dimension, Mechanism: c.Mechanism, Epsilon: c.Epsilon}
	variant, model, policy := "proved", "lstm", "keep"
	if n.As = AsDescribed; ofCode {
		n.As, variant, model = AsRun, "as-run", "lstm-2024"
	}
	other := otherParameters[c.Mechanism]
	study := (c.IsBaseline() || c.Variant == variant) && (other == "" || !strings.Contains(c.Parameters, other))
	if row, fits := fitted[c.Instance()]; fits && ofCode {
		n.As, n.Mechanism, policy, study = AsFitted, row, "random", true
	}
	return n, study && (c.Model == "" || c.Model == model) && (c.Policy == "" || c.Policy == policy) &&
		!c.Generated && c.TestItems == documents[dataset] &&
		strings.HasPrefix(strings.ToLower(c.Embedding), "glove.6b")
}

// Compare joins the printed numbers with those of results, in the order of the
// paper's tables: all that both have, at every dimension.
func Compare(p *results.Prepared) (all []Number) {
	run := results.Where(p.Cells, func(c results.Cell) bool { _, ok := inPrint(c); return ok })
	unlike := slices.ContainsFunc(run, func(c results.Cell) bool {
		m, ok := c.At("cs")
		return ok && !strings.HasSuffix(m.Detail, encoder)
	})
	quantities := results.Distinct(Printed(), func(n Number) string { return n.Quantity })
	measured := map[Number]results.Cells{} // by place, way and quantity
	for ofModel, cells := range map[bool][]results.Cell{false: results.Texts(run), true: run} {
		for _, g := range results.GroupCells(cells) {
			c := g.Cells[0]
			n, _ := inPrint(c)
			if ofModel && !c.IsBaseline() {
				n.Setting = c.Setting
			}
			for _, n.Quantity = range quantities {
				if results.MustColumn(n.Quantity).OfModel == ofModel &&
					(len(g.Values(n.Quantity)) > 0 || c.Status == results.StatusUndefined) {
					measured[n] = g
				}
			}
		}
	}
	for _, how := range []string{AsRun, AsFitted, AsDescribed} {
		for _, printed := range Printed() {
			for _, setting := range []string{"", "train-only", "local"} {
				n := Number{Place: printed.Place, As: how, Quantity: printed.Quantity}
				n.Setting = setting
				if ours, ran := measured[n]; ran {
					n.Printed = printed.Printed
					n = n.beside(ours)
					if unlike && n.N > 0 && (n.Quantity == "cs" || strings.HasPrefix(n.Quantity, "puc_")) {
						n.Verdict = Unlike
					}
					all = append(all, n)
				}
			}
		}
	}
	return all
}

// Sentence counts the verdicts and says the rule.
func Sentence(all []Number) string {
	counts := map[Verdict]int{}
	for _, n := range all {
		counts[n.Verdict]++
	}
	return fmt.Sprintf("Of %d printed numbers %d are the same to the digits, %d near, %d apart, and %d undefined here. %s",
		len(all)-counts[Unlike], counts[Same], counts[Near], counts[Apart], counts[Undefined], Rule)
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
	t := views.Table{Name: "published", Title: "Printed by Meisenbacher et al. 2024, and here", Legend: Sentence(all),
		Header: []string{"run", "data set", "d", "mechanism", "ε", "quantity", "printed", "ours", "difference", "verdict"}}
	for _, n := range all {
		quantity, ours, difference := results.MustColumn(n.Quantity).Title, "", ""
		if n.Setting != "" {
			quantity += ", " + n.Setting
		}
		if n.N > 0 {
			ours = views.Number(n.Ours, n.digits())
			difference = fmt.Sprintf("%+.*f", n.digits(), n.Ours-n.Printed)
		}
		t.AddRow(n.As, results.DatasetTitle(n.Dataset), strconv.Itoa(n.Dimension), results.MechanismTitle(n.Mechanism),
			n.Epsilon.String(), quantity, views.Number(n.Printed, n.digits()), ours, difference, string(n.Verdict))
	}
	return []views.Table{t}
}
