package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/stats"
)

// explorer is the table that a reader filters: a row per cell, a column per
// measured metric of the registry.
type explorer struct {
	Filters []filter
	Columns []exploreColumn
	Rows    []exploreRow
}

type filter struct {
	Name, Key string
	Values    []string
}

type exploreColumn struct {
	Title string
	Main  bool // shown before "all metrics" is chosen
}

type exploreRow struct {
	Dataset, Mechanism, Epsilon, Variant, Model, Space string
	Mark                                               string // without a guarantee or with a partial one
	Idle                                               bool   // changed next to nothing
	Cells                                              []exploreCell
}

type exploreCell struct {
	Text string
	Main bool
}

// idleAbove is the N_w in % beyond which a mechanism changed next to nothing.
const idleAbove = 95

func explore(records []results.Record) explorer {
	var e explorer
	columns := results.Measured(records)
	for _, c := range columns {
		e.Columns = append(e.Columns, exploreColumn{c.Heading(), main(c)})
	}
	names := results.Labels(records)
	nw, err := results.FindColumn("n_w")
	for _, c := range results.GroupCells(records) {
		r := c.Records[0]
		row := exploreRow{
			Dataset: results.DatasetTitle(r.Dataset), Mechanism: names[r.Instance()], Variant: variantName(r),
			Model: r.Model,
			Space: fmt.Sprintf("%s d=%d", r.Embedding, r.Dimension), Idle: err == nil &&
				stats.Mean(c.Values(nw.Get)) > idleAbove,
		}
		switch {
		case r.IsBaseline() || r.Status == results.StatusUndefined:
		case r.GuaranteeMetric == "":
			row.Mark = "†"
		case r.GuaranteeScope != "":
			row.Mark = results.ScopeMark
		}
		if !r.IsBaseline() && r.Setting != "" && r.Setting != "local" {
			row.Model += " (" + r.Setting + ")"
		}
		if r.Epsilon.Known() {
			row.Epsilon = short(float64(r.Epsilon))
		}
		for _, column := range columns {
			text := results.WithInterval(stats.Summarize(c.Values(column.Get)), column.Digits)
			if r.Status == results.StatusUndefined {
				text = "undefined"
			}
			row.Cells = append(row.Cells, exploreCell{text, main(column)})
		}
		e.Rows = append(e.Rows, row)
	}
	e.Filters = e.filters(epsilonTexts(records))
	return e
}

// filters returns the values by which rows can be filtered.
func (e explorer) filters(epsilons []string) []filter {
	values := func(f func(exploreRow) string) []string {
		var out []string
		for _, row := range e.Rows {
			if v := f(row); v != "" && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
		return out
	}
	return []filter{
		{"Data set", "dataset", values(func(r exploreRow) string { return r.Dataset })},
		{"Mechanism", "mechanism", values(func(r exploreRow) string { return r.Mechanism })},
		{"ε", "epsilon", epsilons},
		{"Variant", "variant", values(func(r exploreRow) string { return r.Variant })},
		{"Model", "model", values(func(r exploreRow) string { return r.Model })},
	}
}

// main reports whether a column is shown first, which is so for those that the
// gate watches.
func main(c results.Column) bool { return c.Threshold > 0 }

// scopedVariant is appended to a variant whose guarantee holds between some
// words only.
const scopedVariant = " (guarantee between some words)"

// variantName adds to a variant's name whether it guarantees anything.
func variantName(r results.Record) string {
	switch {
	case r.IsBaseline():
		return "no privatisation"
	case r.Status == results.StatusUndefined:
		return strings.TrimSpace(r.Variant + " (undefined)")
	case r.GuaranteeMetric == "":
		return strings.TrimSpace(r.Variant + " (no guarantee)")
	case r.GuaranteeScope != "":
		return strings.TrimSpace(r.Variant + scopedVariant)
	}
	return r.Variant
}

// epsilonTexts returns the ε of records in order.
func epsilonTexts(records []results.Record) []string {
	var out []string
	for _, e := range results.Epsilons(records) {
		if !math.IsNaN(e) {
			out = append(out, short(e))
		}
	}
	return out
}
