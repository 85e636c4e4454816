package published

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
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
						all = append(all, q.number(at, how, setting, printed, c))
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
	return fmt.Sprintf("Of %d printed numbers %d are the same to the digits, %d near, %d apart, and %d undefined here. %s",
		len(all), counts[Same], counts[Near], counts[Apart], counts[Undefined], Rule)
}

// parts are quantities that are counted together.
var parts = [][]string{{"n_w", "s_w"}, {"pp", "low_overlap"}, {"english_as_printed"}, {"accuracy"}}

// Count says how many of the printed numbers of some quantities are near in one of the
// runs that some are of, as "36 of 42"; "" where none were measured.
func Count(all []Number, quantities []string, of func(Number) bool) string {
	met := map[Number]bool{}
	for _, k := range all {
		if of(k) && slices.Contains(quantities, k.Quantity) {
			cell := Number{Place: k.Place, Quantity: k.Quantity}
			met[cell] = met[cell] || k.Verdict == Same || k.Verdict == Near
		}
	}
	if len(met) == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", list.Count(slices.Collect(maps.Values(met)), func(b bool) bool { return b }), len(met))
}

// summary counts what is near, a row for each data set and dimension as it was run.
func summary(all []Number) views.Table {
	t := views.Table{Name: "published-summary", Title: "How many printed numbers are the same or near here",
		Header: []string{"run", "data set", "d"}, Legend: Rule + " As run or fitted: in one of the two."}
	for _, q := range parts {
		t.Header = append(t.Header, strings.Join(list.Map(q, func(n string) string { return results.MustColumn(n).Title }),
			", "))
	}
	runs := map[string][]string{AsRun: {AsRun}, AsRun + " or fitted": {AsRun, AsFitted}, AsDescribed: {AsDescribed}}
	for _, run := range []string{AsRun, AsRun + " or fitted", AsDescribed} {
		own := results.Where(all, func(k Number) bool { return slices.Contains(runs[run], k.As) })
		if len(runs[run]) > 1 && !slices.ContainsFunc(own, func(k Number) bool { return k.As == AsFitted }) {
			continue
		}
		for _, at := range results.Distinct(own, func(k Number) Place { return Place{Dataset: k.Dataset, Dimension: k.Dimension} }) {
			row := []string{run, results.DatasetTitle(at.Dataset), strconv.Itoa(at.Dimension)}
			for _, q := range parts {
				row = append(row, cmp.Or(Count(own, q, func(k Number) bool {
					return k.Dataset == at.Dataset && k.Dimension == at.Dimension && k.Setting != "local"
				}), views.NotMeasured))
			}
			t.AddRow(row...)
		}
	}
	return t
}

//go:embed views.yaml
var viewsYAML []byte

// regressions are the tables of CS, with what is printed in a last column.
func regressions(p *results.Prepared) []views.Table {
	declared, err := views.Parse("views.yaml", viewsYAML)
	if err != nil {
		panic(err)
	}
	all := views.NewSheet(p).Tables(declared.Tables)
	for i := range all {
		all[i].Header = append(all[i].Header, "printed")
		for j, r := range all[i].Rows {
			all[i].Rows[j] = append(r, views.Cell{Text: Regression()[j]})
		}
	}
	return all
}

// Tables are a count of the printed numbers that are near ours, all of them, one a row,
// and the regression of CS; none where nothing printed was measured.
func Tables(p *results.Prepared) []views.Table {
	all := Compare(p)
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
	return append([]views.Table{summary(all), t}, regressions(p)...)
}
