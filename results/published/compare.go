package published

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/views"
)

// How a mechanism was run.
const (
	AsRun       = "as run"       // as the study's own code computes, on its texts: the study replication
	AsFitted    = "as fitted"    // other parameters, which the printed text fits better: the study replication-fits
	AsDescribed = "as described" // by its definition: the study comparative
)

// Number is a printed number beside ours.
type Number struct {
	Place
	As, Setting, Quantity string // setting of the classifier, "" for a text
	Printed, Ours         float64
	N                     int // measurements
	Verdict               Verdict
	Digits                int // printed
}

// documents are the test documents of the study: a sample is another number.
var documents = map[string]int{"agnews": 4000, "imdb": 2000}

// otherParameters are those that are not the study's.
var otherParameters = map[string]string{"mahalanobis": "lambda=0.5", "tem": "gamma=0.5"}

// as says how a cell was run and where its number is printed; ok is false where
// that is nowhere: other vectors, texts, variants or models.
func as(c results.Cell) (how string, at Place, ok bool) {
	dataset, ofCode := strings.CutSuffix(c.Dataset, "-2024")
	how, at = AsDescribed, Place{dataset, c.Dimension, 0, c.Mechanism}
	variant, model := "proved", "lstm"
	if ofCode {
		how, variant, model = AsRun, "as-run", "lstm-2024"
	}
	if !c.IsBaseline() {
		at.Epsilon = c.Epsilon.Float()
	}
	policy, other := "keep", otherParameters[c.Mechanism]
	study := (c.IsBaseline() || c.Variant == variant) && (other == "" || !strings.Contains(c.Parameters, other))
	if row, fits := fitted[c.Instance()]; fits && ofCode {
		how, at.Mechanism, policy, study = AsFitted, row, "random", true
	}
	return how, at, study && (c.Model == "" || c.Model == model) && (c.Policy == "" || c.Policy == policy) &&
		!c.Generated && c.TestItems == documents[dataset] &&
		strings.HasPrefix(strings.ToLower(c.Embedding), "glove.6b")
}

// fitted are the mechanisms whose text the printed one fits, with their rows in print.
var fitted = map[results.Place]string{
	{Mechanism: "santext-plus", Variant: "proved", Parameters: "p=0.3 w=0.9"}: "santext",
	{Mechanism: "mahalanobis", Variant: "as-run", Parameters: "lambda=0.5"}:   "mahalanobis",
}

// Compare joins the printed numbers with those of results, in the order of the
// paper's tables: all that both have, at every dimension.
func Compare(p *results.Prepared) (all []Number) {
	type key struct {
		Place
		how, setting, column string
	}
	measured := map[key]results.Cells{}
	run := results.Where(p.Cells, func(c results.Cell) bool { _, _, ok := as(c); return ok })
	unlike := slices.ContainsFunc(run, func(c results.Cell) bool {
		m, ok := c.At("cs")
		return ok && !strings.HasSuffix(m.Detail, encoder)
	})
	for ofModel, cells := range map[bool][]results.Cell{false: results.Texts(run), true: run} {
		for _, c := range results.GroupCells(cells) {
			how, at, _ := as(c.Cells[0])
			for _, q := range quantities {
				k := key{at, how, "", q.column}
				if ofModel && !c.Cells[0].IsBaseline() {
					k.setting = c.Cells[0].Setting
				}
				if results.MustColumn(q.column).OfModel == ofModel &&
					(len(c.Values(q.column)) > 0 || c.Cells[0].Status == results.StatusUndefined) {
					measured[k] = c
				}
			}
		}
	}
	for _, how := range []string{AsRun, AsFitted, AsDescribed} {
		for _, at := range places() {
			for _, q := range quantities {
				for _, setting := range []string{"", "train-only", "local"} {
					c, ran := measured[key{at, how, setting, q.column}]
					if printed, ok := Printed().Value(at, q.column); ok && ran {
						n := q.number(at, how, setting, printed, c)
						if unlike && n.N > 0 && (q.column == "cs" || strings.HasPrefix(q.column, "puc_")) {
							n.Verdict = Unlike
						}
						all = append(all, n)
					}
				}
			}
		}
	}
	return all
}

// places are the rows of the printed tables, mechanisms in their order.
func places() (all []Place) {
	for _, dataset := range []string{"agnews", "imdb"} {
		for _, d := range []int{50, 100, 300} {
			all = append(all, Place{dataset, d, 0, results.BaselineMechanism})
			for _, m := range []string{"syntf", "cmp", "mahalanobis", "santext", "gumbel", "vickrey", "tem"} {
				for _, e := range []float64{1, 5, 10} {
					all = append(all, Place{dataset, d, e, m})
				}
			}
		}
	}
	return all
}

// number compares a printed number with the mean of our measurements.
func (q quantity) number(at Place, how, setting string, printed float64, c results.Cells) Number {
	k := Number{Place: at, As: how, Setting: setting, Quantity: q.column, Printed: printed, Ours: math.NaN(),
		Verdict: Undefined, Digits: q.digits}
	if c.Cells[0].Status == results.StatusUndefined {
		return k
	}
	x := c.Values(q.column)
	if q.column == "s_w" { // printed without the word itself
		x = results.Where(list.Map(c.Cells, results.Cell.SwOthers), func(v float64) bool { return !math.IsNaN(v) })
	}
	k.N, k.Ours = len(x), stats.Mean(x)
	k.Verdict = q.judge(k.Ours, printed, k.N)
	return k
}

// Sentence counts the verdicts and says the rule, "" where nothing is printed of
// what the records have.
func Sentence(all []Number) string {
	if len(all) == 0 {
		return ""
	}
	counts := map[Verdict]int{}
	for _, k := range all {
		counts[k.Verdict]++
	}
	judged := len(all) - counts[Unlike]
	return fmt.Sprintf("Of %d printed numbers %d are the same to the digits, %d near, %d apart, and %d undefined here. %s",
		judged, counts[Same], counts[Near], counts[Apart], counts[Undefined], Rule)
}

// Tables are the printed numbers beside ours, one a row, all or those of some
// quantities; none where there are none.
func Tables(p *results.Prepared, quantities ...string) []views.Table {
	all := results.Where(Compare(p), func(k Number) bool {
		return len(quantities) == 0 || slices.Contains(quantities, k.Quantity)
	})
	if len(all) == 0 {
		return nil
	}
	t := views.Table{Name: "published", Title: "Printed by Meisenbacher et al. 2024, and here", Legend: Sentence(all),
		Header: []string{"run", "data set", "d", "mechanism", "ε", "quantity", "printed", "ours", "difference", "verdict"}}
	for _, k := range all {
		name, epsilon := results.MustColumn(k.Quantity).Title, ""
		if k.Setting != "" {
			name += ", " + k.Setting
		}
		if k.Epsilon > 0 {
			epsilon = strconv.FormatFloat(k.Epsilon, 'g', -1, 64)
		}
		ours, difference := "", ""
		if k.N > 0 {
			ours = views.Number(k.Ours, k.Digits)
			difference = fmt.Sprintf("%+.*f", k.Digits, k.Ours-k.Printed)
		}
		t.AddRow(k.As, results.DatasetTitle(k.Dataset), strconv.Itoa(k.Dimension), results.MechanismTitle(k.Mechanism),
			epsilon, name, views.Number(k.Printed, k.Digits), ours, difference, string(k.Verdict))
	}
	return []views.Table{t}
}
