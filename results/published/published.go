// Package published holds the numbers that Meisenbacher et al. 2024 print and
// joins them with what was measured here: printed value, ours, difference and one
// verdict. Causes are sentences of the reports, not of this package.
package published

import (
	"embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gocarina/gocsv"

	"mldpbench/results"
)

//go:embed *.csv
var files embed.FS

// Place identifies a cell of the paper's tables by our names. English % is printed
// without dimension (0); baselines have mechanism "none" and ε 0.
type Place struct {
	Dataset   string // "imdb" or "agnews"
	Dimension int
	Epsilon   float64
	Mechanism string
}

// Numbers holds printed numbers by place and column.
type Numbers map[Place]map[string]float64

// Value returns a printed number; ok is false where the paper prints none.
func (p Numbers) Value(at Place, column string) (v float64, ok bool) {
	if v, ok = p[at][column]; !ok {
		v, ok = p[Place{at.Dataset, 0, at.Epsilon, at.Mechanism}][column] // English %
	}
	return v, ok
}

// Printed returns the embedded tables.
var Printed = sync.OnceValue(func() Numbers {
	p := Numbers{}
	for _, name := range []string{"table3_accuracy.csv", "table6_imdb_privacy.csv", "table7_agnews_privacy.csv",
		"table8_english.csv", "table9_puc.csv"} {
		var rows []struct {
			Dataset   string  `csv:"dataset"`
			Dimension int     `csv:"dimension"`
			Alpha     float64 `csv:"alpha"`
			Epsilon   float64 `csv:"epsilon"`
			Mechanism string  `csv:"mechanism"`
			Metric    string  `csv:"metric"`
			Value     float64 `csv:"value"`
		}
		data, err := files.ReadFile(name)
		if err == nil {
			err = gocsv.UnmarshalBytes(data, &rows)
		}
		if err != nil { // a test has read them
			panic(fmt.Sprintf("published: embedded %s: %v", name, err))
		}
		for _, row := range rows {
			at := Place{strings.ToLower(row.Dataset), row.Dimension, row.Epsilon, strings.ToLower(row.Mechanism)}
			if row.Mechanism == "Baseline" {
				at.Mechanism = results.BaselineMechanism
			}
			column := map[string]string{"PUC": fmt.Sprintf("puc_%g", 100*row.Alpha), "Nw": "n_w", "Sw": "s_w",
				"english_pct": "english_as_printed", "LOW": "low_overlap"}[row.Metric]
			if column == "" {
				column = strings.ToLower(row.Metric)
			}
			if p[at] == nil {
				p[at] = map[string]float64{}
			}
			p[at][column] = row.Value
		}
	}
	return p
})

// Verdict says what became of a printed number. Same: to the digits printed. Near:
// within the tolerance of Rule. Undefined: the mechanism does not exist there. Unlike:
// by another encoder than the study's.
type Verdict string

// Verdicts.
const (
	Same      Verdict = "same"
	Near      Verdict = "near"
	Apart     Verdict = "apart"
	Undefined Verdict = "undefined"
	Unlike    Verdict = "other encoder"
)

// Rule is the tolerance, in words.
const Rule = "Near: N_w and S_w within three standard deviations of one draw of 25 words with 100 runs each (at " +
	"most that of 2,500 independent trials) and of our mean; a share of a text, CS and PUC within 1.5 points; accuracy " +
	"within 2. CS, and PUC with it, by another encoder than the study's has no verdict."

// encoder is that of the study.
const encoder = "paraphrase-distilroberta-base-v1"

// quantity is a printed metric: its digits, and the points that are near; 0 for
// shares of draws.
type quantity struct {
	column    string
	digits    int
	tolerance float64
}

var quantities = []quantity{{"n_w", 1, 0}, {"s_w", 1, 0}, {"pp", 1, 1.5}, {"low_overlap", 1, 1.5},
	{"cs", 1, 1.5}, {"english_as_printed", 2, 1.5}, {"accuracy", 2, 2}, {"puc_75", 2, 1.5}, {"puc_50", 2, 1.5},
	{"puc_25", 2, 1.5}}

// judge compares our mean of n measurements with a printed number. A share of draws m in %, of words
// that are the same, has a variance of at most m(100-m)/2500: words that differ
// among themselves have a smaller one. So has the number of distinct outputs in 100
// draws, whose indicators are negatively correlated.
func (q quantity) judge(ours, printed float64, n int) Verdict {
	rounding := math.Pow10(-q.digits) / 2
	tolerance := q.tolerance
	if tolerance == 0 {
		m := min(max((ours+printed)/2, 0), 100)
		tolerance = rounding + 3*math.Sqrt((1+1/float64(n))*m*(100-m)/2500)
	}
	switch d := math.Abs(ours - printed); {
	case d <= rounding+1e-9:
		return Same
	case d <= tolerance:
		return Near
	}
	return Apart
}
