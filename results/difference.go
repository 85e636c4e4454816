package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results/stats"
)

// Difference is one metric of one cell in two runs.
type Difference struct {
	Dataset   string `json:"dataset"`
	Place     string `json:"place,omitempty"` // panel, curve and x, of a paper study
	Space     string `json:"space"`
	Model     string `json:"model,omitempty"` // with its setting, for metrics of the classifier
	Mechanism string `json:"mechanism"`       // as Labels names it
	Epsilon   Float  `json:"epsilon"`
	Metric    string `json:"metric"`
	A         Float  `json:"a"` // means over repetitions
	B         Float  `json:"b"`
	NA        int    `json:"repetitions_a"`
	NB        int    `json:"repetitions_b"`
	Change    Float  `json:"change"` // B − A
	Low       Float  `json:"low"`    // 95% interval of the change
	High      Float  `json:"high"`
	P         Float  `json:"p"`       // two-sided, null where there is no test
	Adjusted  Float  `json:"p_holm"`  // corrected for all tests made
	Test      string `json:"test"`    // name of the test, or why there is none
	Changed   bool   `json:"changed"` // beyond chance, at the given level
	digits    int
}

// RunComparison is a comparison of two runs.
type RunComparison struct {
	Differences []Difference `json:"differences"`
	// Apart lists fields that differ between all cells of one run and all cells
	// of the other: "embedding: glove.6B against local".
	Apart   []string `json:"apart"`
	OnlyA   int      `json:"cells_only_in_a"`
	OnlyB   int      `json:"cells_only_in_b"`
	Level   float64  `json:"level"`
	Changed int      `json:"changed"`
}

// cellKey identifies cells of two runs as the same, field by field.
type cellKey [15]string

var cellFields = [len(cellKey{})]string{
	"dataset", "embedding", "dimension", "model", "model_parameters", "setting", "mechanism", "variant", "parameters",
	"epsilon", "policy", "panel", "series", "x", "quantity",
}

func keyOf(g Group) cellKey {
	return cellKey{
		g.Dataset, g.Embedding, fmt.Sprint(g.Dimension), g.Model, g.ModelParameters, g.Setting, g.Mechanism, g.Variant,
		g.Parameters,
		g.Epsilon, g.Policy, g.Panel, g.Series, g.X, g.Quantity,
	}
}

// CompareRuns compares two runs, cell by cell and metric by metric. A field
// with one value in the whole first run and another in the whole second run (an
// embedding, a model) is ignored when cells are matched.
//
// Repetitions are compared by Welch's test. Where the samples of documents
// differ, the accuracy's sampling variance is added, and metrics whose sampling
// variance is not known are not tested. Single repetitions on the same
// documents are compared by McNemar's test, which is about these two
// classifiers only. p-values are Holm-corrected over all tests: where only
// noise differs, the probability of reporting any change is at most level.
func CompareRuns(a, b []Record, metrics []Column, level float64) (RunComparison, error) {
	c := RunComparison{Level: level}
	for _, side := range [][]Record{a, b} {
		if len(side) == 0 {
			return c, fmt.Errorf("compare: no records")
		}
	}
	var ignored [len(cellKey{})]bool
	for f := range cellFields {
		values := func(records []Record) []string {
			return Distinct(records, func(r Record) string { return keyOf(r.Group())[f] })
		}
		if x, y := values(a), values(b); len(x) == 1 && len(y) == 1 && x[0] != y[0] {
			ignored[f] = true
			c.Apart = append(c.Apart, fmt.Sprintf("%s: %s against %s", cellFields[f], cmp.Or(x[0], "none"),
				cmp.Or(y[0], "none")))
		}
	}
	if x, y := Distinct(a, func(r Record) uint64 { return r.Seed }),
		Distinct(b, func(r Record) uint64 { return r.Seed }); !slices.Equal(x, y) {
		c.Apart = append(c.Apart, fmt.Sprintf("seed: %v against %v", x, y))
	}
	names := Labels(append(slices.Clone(a), b...))
	compare := func(a, b []Record, ofModel bool) {
		other := map[cellKey]Cells{}
		key := func(g Group) cellKey {
			k := keyOf(g)
			for f := range k {
				if ignored[f] {
					k[f] = ""
				}
			}
			return k
		}
		for _, y := range GroupCells(b) {
			other[key(y.Group)] = y
		}
		for _, x := range GroupCells(a) {
			y, ok := other[key(x.Group)]
			delete(other, key(x.Group))
			if !ok {
				if ofModel {
					c.OnlyA++
				}
				continue
			}
			for _, m := range metrics {
				// A row of one quantity is a separate cell.
				if x.Quantity != "" && ofModel || x.Quantity == "" && m.OfModel == ofModel {
					if d, ok := difference(x, y, m); ok {
						d.Mechanism = names[x.Records[0].Instance()]
						c.Differences = append(c.Differences, d)
					}
				}
			}
		}
		if ofModel {
			c.OnlyB = len(other)
		}
	}
	compare(a, b, true)
	wide := func(r Record) bool { return r.Quantity == "" }
	compare(TextRecords(Where(a, wide)), TextRecords(Where(b, wide)), false)
	p := make([]float64, len(c.Differences))
	for i, d := range c.Differences {
		p[i] = float64(d.P)
	}
	for i, adjusted := range stats.Holm(p) {
		d := &c.Differences[i]
		d.Adjusted = Float(adjusted)
		if d.Changed = adjusted < level; d.Changed {
			c.Changed++
		}
	}
	return c, nil
}

// difference compares a metric of two cells; ok is false where one lacks it.
func difference(x, y Cells, m Column) (Difference, bool) {
	va, vb := x.Values(m.Get), y.Values(m.Get)
	if len(va) == 0 || len(vb) == 0 {
		return Difference{}, false
	}
	r, o := x.Records[0], y.Records[0]
	d := Difference{
		Dataset: r.Dataset, Space: Space{r.Embedding, r.Dimension}.String(), Epsilon: r.Epsilon, Metric: m.Name,
		A: Float(stats.Mean(va)), B: Float(stats.Mean(vb)), NA: len(va), NB: len(vb),
		Low: Missing, High: Missing, P: Missing, Adjusted: Missing, digits: m.Digits,
	}
	if r.Quantity != "" {
		d.Place = r.place()
	}
	d.Change = d.B - d.A
	if m.OfModel {
		d.Model = strings.TrimSuffix(strings.Trim(r.Model+" ("+r.Setting+")", " "), " ()")
	}
	sameText := r.DatasetFingerprint == o.DatasetFingerprint
	set := func(name string, t stats.Test, err error) {
		if err != nil {
			d.Test = "no test: one repetition"
			return
		}
		d.Test, d.P, d.Low, d.High = name, Float(t.P), Float(t.Low), Float(t.High)
	}
	onlyB, onlyA, paired := Disagree(o, r)
	switch sampled := [2]float64{samplingVariance(m, r), samplingVariance(m, o)}; {
	case m.Name == "accuracy" && len(va) == 1 && len(vb) == 1 && paired:
		t, err := stats.McNemar(onlyB, onlyA, r.TestTotal)
		t.Low, t.High = 100*t.Low, 100*t.High
		set("McNemar, paired by document", t, err)
	case !sameText && sampled[0] == 0 && sampled[1] == 0:
		d.Test = "no test: other samples of documents"
	case !sameText:
		t, err := stats.WelchSampled(vb, va, sampled[1], sampled[0])
		set("Welch, other samples of documents", t, err)
	default:
		t, err := stats.Welch(vb, va)
		set("Welch", t, err)
	}
	return d, true
}

// Table returns the comparison as a table: changes first, by p.
func (c RunComparison) Table(all bool) Table {
	t := Table{Name: "difference", Title: "Differences between two runs",
		Header: []string{"data set or panel", "space", "model", "mechanism", "ε", "metric", "A", "B", "B − A",
			"95% interval", "p (Holm)", "verdict"}}
	rows := slices.Clone(c.Differences)
	slices.SortStableFunc(rows, func(a, b Difference) int {
		p := func(d Difference) float64 {
			if math.IsNaN(float64(d.P)) {
				return 2
			}
			return float64(d.P)
		}
		return cmp.Compare(p(a), p(b))
	})
	for _, d := range rows {
		if !d.Changed && !all {
			continue
		}
		interval, verdict := NotMeasured, "same"
		if d.Low.Known() {
			interval = fmt.Sprintf("%+.*f to %+.*f", d.digits, float64(d.Low), d.digits, float64(d.High))
		}
		if d.Changed {
			verdict = "changed"
		}
		if !d.P.Known() {
			verdict = d.Test
		}
		t.AddRow(cmp.Or(d.Place, DatasetTitle(d.Dataset)), d.Space, d.Model, d.Mechanism, formatFloat(d.Epsilon),
			d.Metric,
			FormatNumber(float64(d.A), d.digits), FormatNumber(float64(d.B), d.digits), fmt.Sprintf("%+.*f", d.digits,
				float64(d.Change)), interval, formatAdjusted(float64(d.Adjusted)), verdict)
	}
	tested := 0
	for _, d := range c.Differences {
		if d.P.Known() {
			tested++
		}
	}
	t.Legend = fmt.Sprintf("%d of %d tests differ beyond chance (Holm-corrected, %g over all of them). %d cells "+
		"only in A, %d only in B.", c.Changed, tested, c.Level, c.OnlyA, c.OnlyB)
	if len(c.Apart) > 0 {
		t.Legend += " The runs differ in " + strings.Join(c.Apart, "; ") + "."
	}
	return t
}
