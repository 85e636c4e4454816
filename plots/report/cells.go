package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// explorer is the table that a reader filters: a row per cell, a column per
// measured quantity.
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
	Main  bool // shown before "all quantities" is chosen: the gate watches it
}

type exploreRow struct {
	Dataset, Mechanism, Epsilon, Variant, Model, Space string
	Mark                                               string // without a guarantee or with a partial one
	Idle                                               bool   // changed next to nothing
	Cells                                              []string
}

// idleAbove is the N_w in % beyond which a mechanism changed next to nothing.
const idleAbove = 95

func explore(p *results.Prepared) explorer {
	var e explorer
	cells := results.Where(p.Cells, func(c results.Cell) bool { return c.Panel == "" })
	columns := results.MeasuredColumns(cells)
	for _, c := range columns {
		e.Columns = append(e.Columns, exploreColumn{c.Heading(), c.Threshold > 0})
	}
	for _, g := range results.GroupCells(cells) {
		c := g.Cells[0]
		row := exploreRow{
			Dataset: results.DatasetTitle(c.Dataset), Mechanism: p.Name(c), Variant: variantName(c),
			Model: c.Task().String(), Space: c.Space().String(), Idle: stats.Mean(g.Values("n_w")) > idleAbove,
			Mark: results.Mark(g.Cells),
		}
		if c.IsBaseline() {
			row.Model = c.Model
		}
		if c.Epsilon.Known() {
			row.Epsilon = short(float64(c.Epsilon))
		}
		for _, column := range columns {
			text := tables.WithInterval(stats.Summarize(g.Values(column.Name)), column.Digits)
			if c.Status == results.StatusUndefined {
				text = "undefined"
			}
			row.Cells = append(row.Cells, text)
		}
		e.Rows = append(e.Rows, row)
	}
	e.filter()
	return e
}

// filter fills in the values by which rows can be filtered.
func (e *explorer) filter() {
	for _, f := range []struct {
		name, key string
		of        func(exploreRow) string
	}{
		{"Data set", "dataset", func(r exploreRow) string { return r.Dataset }},
		{"Mechanism", "mechanism", func(r exploreRow) string { return r.Mechanism }},
		{"ε", "epsilon", func(r exploreRow) string { return r.Epsilon }},
		{"Variant", "variant", func(r exploreRow) string { return r.Variant }},
		{"Model", "model", func(r exploreRow) string { return r.Model }},
	} {
		var values []string
		for _, row := range e.Rows {
			values = once(values, f.of(row))
		}
		if f.key == "epsilon" {
			number := func(text string) float64 { v, _ := strconv.ParseFloat(text, 64); return v } // it was one
			slices.SortFunc(values, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
		}
		if len(values) > 1 {
			e.Filters = append(e.Filters, filter{f.name, f.key, values})
		}
	}
}

// variantName adds to a variant's name whether it guarantees anything.
func variantName(c results.Cell) string {
	switch {
	case c.IsBaseline():
		return "no privatisation"
	case c.Status == results.StatusUndefined:
		return strings.TrimSpace(c.Variant + " (undefined)")
	case c.GuaranteeMetric == "":
		return strings.TrimSpace(c.Variant + " (no guarantee)")
	case c.GuaranteeScope != "":
		return strings.TrimSpace(c.Variant + " (guarantee between some words)")
	}
	return c.Variant
}
