// Package published holds the numbers that the papers print (the tables of
// Meisenbacher et al. 2024 and some numbers of the others), checks of their
// arithmetic, and the comparison of records with them, protocol by protocol.
//
// A published number is data like any other: it is compared by what was
// measured, not by what was intended, and a protocol is judged over all its
// cells at once. The package makes no record and runs nothing.
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

// Metric names a column of results.Cell that the papers' tables print.
type Metric = string

// PUCMetrics are the composites by weight of utility.
var PUCMetrics = map[float64]Metric{0.75: "puc_75", 0.5: "puc_50", 0.25: "puc_25"}

// Place identifies a cell of the comparative study's tables by our names.
// English % is printed without dimension (0); baselines have mechanism "none"
// and ε 0.
type Place struct {
	Dataset   string // "imdb" or "agnews"
	Dimension int
	Epsilon   float64
	Mechanism string
}

func (p Place) String() string {
	s := p.Dataset
	if p.Dimension > 0 {
		s += fmt.Sprintf(" d=%d", p.Dimension)
	}
	if p.Epsilon > 0 {
		s += fmt.Sprintf(" ε=%g", p.Epsilon)
	}
	return s + " " + p.Mechanism
}

// Numbers holds those of Meisenbacher et al. 2024, Tables 3, 6, 7, 8 and 9, as
// printed.
type Numbers struct {
	values map[Place]map[Metric]float64
}

// Value returns a printed number, NaN where the paper prints none.
func (p *Numbers) Value(at Place, m Metric) float64 {
	for _, at := range []Place{at, {at.Dataset, 0, at.Epsilon, at.Mechanism}} { // English % has no dimension
		if v, ok := p.values[at][m]; ok {
			return v
		}
	}
	return math.NaN()
}

// The grid of the study.
var (
	Datasets   = []string{"imdb", "agnews"}
	Dimensions = []int{50, 100, 300}
	Epsilons   = []float64{1, 5, 10}
	// Mechanisms in the order of the paper's tables.
	Mechanisms = []string{"syntf", "cmp", "mahalanobis", "santext", "gumbel", "vickrey", "tem"}
)

type publishedRow struct {
	Dataset   string  `csv:"dataset"`
	Dimension int     `csv:"dimension"`
	Alpha     float64 `csv:"alpha"`
	Epsilon   float64 `csv:"epsilon"`
	Mechanism string  `csv:"mechanism"`
	Metric    string  `csv:"metric"`
	Value     float64 `csv:"value"`
}

// Printed returns the embedded tables of the comparative study.
var Printed = sync.OnceValue(func() *Numbers {
	p := &Numbers{values: map[Place]map[Metric]float64{}}
	for _, name := range []string{"table3_accuracy.csv", "table6_imdb_privacy.csv", "table7_agnews_privacy.csv",
		"table8_english.csv", "table9_puc.csv"} {
		var rows []publishedRow
		mustReadPublished(name, &rows)
		for i, row := range rows {
			at := Place{strings.ToLower(row.Dataset), row.Dimension, row.Epsilon, publishedMechanism(row.Mechanism)}
			m := publishedMetric(row)
			if p.values[at] == nil {
				p.values[at] = map[Metric]float64{}
			}
			if _, dup := p.values[at][m]; dup {
				panic(fmt.Sprintf("%s: row %d: %v %s twice", name, i+1, at, m))
			}
			p.values[at][m] = row.Value
		}
	}
	return p
})

func publishedMechanism(name string) string {
	if name == "Baseline" {
		return results.BaselineMechanism
	}
	return strings.ToLower(name)
}

func publishedMetric(row publishedRow) Metric {
	switch row.Metric {
	case "PUC":
		return PUCMetrics[row.Alpha]
	case "Nw":
		return "n_w"
	case "Sw":
		return "s_w"
	case "english_pct":
		return "english"
	}
	return Metric(strings.ToLower(row.Metric))
}

// mustReadPublished reads an embedded table, which tests have read before.
func mustReadPublished(name string, rows any) {
	data, err := files.ReadFile(name)
	if err == nil {
		err = gocsv.UnmarshalBytes(data, rows)
	}
	if err != nil {
		panic(fmt.Sprintf("results: embedded %s: %v", name, err))
	}
}

// claim returns the printed value of a statement in a paper's prose, found by
// the start of its transcription.
func claim(prefix string) string {
	var rows []struct {
		Claim string `csv:"claim"`
		Value string `csv:"published_value"`
	}
	mustReadPublished("claims_prose.csv", &rows)
	for _, r := range rows {
		if strings.HasPrefix(r.Claim, prefix) {
			return r.Value
		}
	}
	panic("results: no claim " + prefix)
}
