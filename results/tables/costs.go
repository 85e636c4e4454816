package tables

import (
	"fmt"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// stageColumns are the parts of the time of a cell.
var stageColumns = []struct{ title, quantity string }{
	{"privatise s", "privatize_seconds"}, {"train s", "train_seconds"}, {"measure s", "measure_seconds"},
	{"CS s", "cs_seconds"},
}

// stages returns the table of where the time goes, summed over all cells.
func (s sheet) stages() (Table, bool) {
	t := s.named("stages", "Where the time goes")
	t.Header = []string{"mechanism", "model", "cells"}
	for _, c := range stageColumns {
		t.Header = append(t.Header, c.title)
	}
	t.Header = append(t.Header, "sum s", "share")
	sums := func(cells []results.Cell) (parts []float64, sum float64) {
		for _, c := range stageColumns {
			x := results.Cells{Cells: cells}.Values(c.quantity)
			parts = append(parts, stats.Mean(append(x, 0))*float64(len(x)+1))
			sum += parts[len(parts)-1]
		}
		return parts, sum
	}
	cells := results.Where(s.plain(), func(c results.Cell) bool {
		return c.Status == results.StatusOK && c.Has("train_seconds")
	})
	_, whole := sums(cells)
	add := func(head TableCell, model string, own []results.Cell) {
		parts, sum := sums(own)
		row := []TableCell{head, {Text: model}, {Text: fmt.Sprint(len(own))}}
		for _, v := range append(parts, sum) {
			row = append(row, TableCell{Text: FormatNumber(v, 1)})
		}
		t.Rows = append(t.Rows, append(row, TableCell{Text: fmt.Sprintf("%.1f%%", 100*sum/max(whole, 1e-300))}))
	}
	for _, model := range results.Distinct(cells, func(c results.Cell) string { return c.Model }) {
		own := results.Where(cells, func(c results.Cell) bool { return c.Model == model })
		for _, i := range results.Instances(own) {
			one := results.Where(own, func(c results.Cell) bool { return c.Instance() == i })
			add(promiseCell(&t, s.Labels[i], one), model, one)
		}
		add(TableCell{Text: "all", Separator: true}, model, own)
	}
	t.Legend = "Seconds on one worker, summed over data sets, spaces, ε and repetitions. Text that models or settings " +
		"share is privatised once and counted for each. Share is of these cells' sum."
	return t, len(t.Rows) > 0
}

// price returns the table of the time per million words.
func (s sheet) price() (Table, bool) {
	t := s.named("cost-per-million-words", "Seconds to privatise a million words")
	cells := results.Texts(results.Where(s.plain(), func(c results.Cell) bool { return c.Get("words_per_second") > 0 }))
	spaces := results.Spaces(cells)
	t.Header = []string{"mechanism"}
	for _, sp := range spaces {
		t.Header = append(t.Header, sp.String())
	}
	for _, i := range results.Instances(cells) {
		own := results.Where(cells, func(c results.Cell) bool { return c.Instance() == i })
		row := []TableCell{promiseCell(&t, s.Labels[i], own)}
		for _, sp := range spaces {
			x := speeds(results.Where(own, func(c results.Cell) bool { return c.Space() == sp }))
			for k := range x {
				x[k] = 1e6 / x[k]
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

// speeds returns the speed of privatising each text of some cells without
// prepared tables, in words per second: the words of one repetition divided by
// the whole time of the call that privatised it, which several repetitions may
// have shared.
func speeds(texts []results.Cell) []float64 {
	var out []float64
	for _, group := range results.GroupCells(texts) {
		together := map[float64]int{} // repetitions with the same time were privatised together
		for _, v := range group.Values("privatize_seconds") {
			together[v]++
		}
		for _, c := range group.Cells {
			seconds, speed := float64(c.Get("privatize_seconds")), float64(c.Get("words_per_second"))
			if !(seconds > 0) || !(speed > 0) {
				continue
			}
			n := float64(together[seconds])
			if k := float64(c.Get("privatize_texts")); k > 0 {
				n = k
			}
			out = append(out, speed/n)
		}
	}
	return out
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
