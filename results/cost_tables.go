package results

import (
	"fmt"
	"slices"

	"mldpbench/results/stats"
)

// Stage is a part of a cell's time.
type Stage struct {
	Name    string
	Seconds func(Record) Float
}

// Stages of a cell, in order; the rest of the total is "other": loading,
// scoring the test split, waiting.
var Stages = []Stage{
	{"privatise", func(r Record) Float { return r.PrivatizeSeconds }},
	{"train", func(r Record) Float { return r.TrainSeconds }},
	{"measure", func(r Record) Float { return r.MeasureSeconds }},
	{"CS", func(r Record) Float { return r.CSSeconds }},
}

// OtherSeconds returns the time outside the stages, missing without a total.
func (r Record) OtherSeconds() Float {
	rest := r.TotalSeconds
	for _, s := range Stages {
		if v := s.Seconds(r); v.Known() {
			rest -= v
		}
	}
	return max(0, rest)
}

// costs returns the tables of time and memory.
func (s sheet) costs() []Table {
	tables := []Table{s.stages()}
	if t, ok := s.price(); ok {
		tables = append(tables, t)
	}
	return append(tables, s.cost())
}

// price returns the table of the time per million words.
func (s sheet) price() (Table, bool) {
	t := s.named("cost-per-million-words", "Seconds to privatise a million words")
	records := Where(s.records, func(r Record) bool { return r.WordsPerSecond > 0 })
	spaces := Spaces(records)
	t.Header = []string{"mechanism"}
	for _, sp := range spaces {
		t.Header = append(t.Header, sp.String())
	}
	for _, i := range Instances(records) {
		row := []TableCell{s.instanceCell(&t, records, i)}
		for _, sp := range spaces {
			var x []float64
			for _, c := range GroupCells(TextRecords(records)) {
				if c.Records[0].Instance() == i && c.Embedding == sp.Embedding && c.Dimension == sp.Dimension {
					for _, v := range c.Throughput() {
						x = append(x, 1e6/v)
					}
				}
			}
			row = append(row, TableCell{Text: spanned(x)})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Legend = "A text of the data set's size without prepared tables, scaled to a million words: the whole time of " +
		"the call that privatised it, including tables per word, however many repetitions shared it. Median over " +
		"data sets, ε and repetitions (least to greatest). Wall clock as run: cells that run at once share the " +
		"machine, whose name is in the records."
	return t, len(t.Rows) > 0
}

// spanned prints the median and the range of values.
func spanned(x []float64) string {
	if len(x) == 0 {
		return NotMeasured
	}
	slices.Sort(x)
	number := func(v float64) string { return FormatNumber(v, max(0, 2-len(fmt.Sprintf("%.0f", v)))) }
	text := number((x[(len(x)-1)/2] + x[len(x)/2]) / 2)
	if low, high := number(x[0]), number(x[len(x)-1]); low != high {
		text += fmt.Sprintf(" (%s to %s)", low, high)
	}
	return text
}

// stages returns the table of where the time goes, summed over all cells.
func (s sheet) stages() Table {
	t := s.named("stages", "Where the time goes")
	t.Header = []string{"mechanism", "model", "cells"}
	for _, st := range Stages {
		t.Header = append(t.Header, st.Name+" s")
	}
	t.Header = append(t.Header, "other s", "total s", "share")
	add := func(head TableCell, model string, records []Record, whole float64) {
		row := []TableCell{head, {Text: model}, {Text: fmt.Sprint(len(records))}}
		columns := append(slices.Clone(Stages), Stage{"other", Record.OtherSeconds},
			Stage{"total", func(r Record) Float { return r.TotalSeconds }})
		for _, st := range columns {
			row = append(row, TableCell{Text: FormatNumber(total(records, st.Seconds), 1)})
		}
		share := NotMeasured
		if whole > 0 {
			share = fmt.Sprintf("%.1f%%", 100*total(records, func(r Record) Float { return r.TotalSeconds })/whole)
		}
		t.Rows = append(t.Rows, append(row, TableCell{Text: share}))
	}
	records := Where(s.records, func(r Record) bool { return r.TotalSeconds.Known() && r.Status == StatusOK })
	whole := total(records, func(r Record) Float { return r.TotalSeconds })
	for _, model := range Distinct(records, func(r Record) string { return r.Model }) {
		own := Where(records, func(r Record) bool { return r.Model == model })
		for _, i := range Instances(own) {
			add(s.instanceCell(&t, own, i), model, Where(own, func(r Record) bool { return r.Instance() == i }), whole)
		}
		add(TableCell{Text: "all", Separator: true}, model, own, whole)
	}
	t.Legend = "Seconds on one worker, summed over data sets, spaces, ε and repetitions. Text that models or settings " +
		"share is privatised once and counted for each; measure: all metrics except CS. Share is of these cells' total."
	return t
}

func total(records []Record, column func(Record) Float) float64 {
	sum := 0.0
	for _, r := range records {
		if v := column(r); v.Known() {
			sum += float64(v)
		}
	}
	return sum
}

// cost tabulates throughput, time and memory cell by cell.
func (s sheet) cost() Table {
	t := s.named("cost", "Cost of privatising, training and measuring, cell by cell")
	t.Header = []string{"data set", "space", "mechanism", "ε", "model", "words/s", "privatise s", "train s",
		"measure s", "CS s", "peak MiB"}
	for _, c := range GroupCells(s.records) {
		r := c.Records[0]
		if r.Status != StatusOK {
			continue
		}
		row := []string{DatasetTitle(r.Dataset), Space{r.Embedding, r.Dimension}.String(), s.labels[r.Instance()],
			formatFloat(r.Epsilon), r.Model}
		columns := append(slices.Clone(Stages), Stage{"memory", func(r Record) Float { return r.PeakMemoryMiB }})
		if x := c.Throughput(); len(x) > 0 {
			row = append(row, FormatNumber(stats.Mean(x), 0))
		} else {
			row = append(row, NotMeasured)
		}
		for k, column := range columns {
			digits := 2
			if k == len(columns)-1 {
				digits = 0
			}
			if x := c.Values(column.Seconds); len(x) > 0 {
				row = append(row, FormatNumber(stats.Mean(x), digits))
			} else {
				row = append(row, NotMeasured)
			}
		}
		t.AddRow(row...)
	}
	t.Legend = "Means over repetitions, on the machine of the records; words/s as in the table of seconds per " +
		"million words; other times are those reported per repetition, with its share of common work. Peak " +
		"memory is that of the whole process."
	return t
}
