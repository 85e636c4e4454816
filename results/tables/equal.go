package tables

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// AtFirstLevel has a row per mechanism, at most so many, and a column per data
// set: accuracy at the first stated level of privacy that some mechanism reaches.
// The best of a data set is bold; those not told apart from it are underlined.
func AtFirstLevel(p *results.Prepared, most int) (Table, bool) {
	for _, level := range p.Stated().At {
		standings := compare.Leading(compare.Standings(p, compare.Question{}, level))
		standings = results.Where(standings, func(s compare.Standing) bool { return len(s.Entries) > 0 })
		if len(standings) > 0 {
			return atLevel(standings, level, most), true
		}
	}
	return Table{}, false
}

func atLevel(standings []compare.Standing, level float64, most int) Table {
	t := Table{Name: "equal", Title: "Accuracy in % at " + LevelOf(standings[0].Aligned),
		Header: []string{"mechanism"}}
	if standings[0].Privacy == results.EM {
		t.Title = fmt.Sprintf("Accuracy in %% where the adversary gets %g%% of words wrong (E_M = %g)", 100*level, level)
	}
	type line struct {
		name  string
		share []float64 // of the best, to sort by
		cells []TableCell
	}
	var lines []line
	for k, s := range standings {
		t.Header = append(t.Header, results.DatasetTitle(s.Dataset))
		best := s.Entries[0]
		for _, e := range slices.Concat(s.Entries, s.Scoped) {
			name := e.Line.Name
			if e.Scope != "" {
				name += results.ScopeMark
			}
			i := slices.IndexFunc(lines, func(l line) bool { return l.name == name })
			if i < 0 {
				i = len(lines)
				lines = append(lines, line{name: name, cells: slices.Repeat([]TableCell{{Text: NotMeasured}},
					len(standings))})
			}
			lines[i].cells[k] = TableCell{Text: Within(e.Line, 1), Best: e.Line.Name == best.Line.Name,
				Above: e.Scope == "" && slices.Contains(best.Open, e.Line.Name)}
			lines[i].share = append(lines[i].share, e.Line.Value/best.Line.Value)
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int {
		return cmp.Compare(stats.Mean(b.share), stats.Mean(a.share))
	})
	for _, l := range lines[:min(most, len(lines))] {
		t.Rows = append(t.Rows, append([]TableCell{{Text: l.name}}, l.cells...))
	}
	baseline := []TableCell{{Text: "not privatised"}}
	for _, s := range standings {
		baseline = append(baseline, TableCell{Text: FormatNumber(s.Baseline, 1)})
	}
	if len(t.Rows) == most {
		t.Rows = t.Rows[:most-1]
	}
	t.Rows = append(t.Rows, baseline)
	t.Legend = "Bold: the best with a guarantee between any two words. Underlined: not told apart from it (all pairs " +
		"tested, Holm, 5%). ± is half the 95% interval; – was not measured at this level."
	if left := len(lines) - (len(t.Rows) - 1); left > 0 {
		t.Legend += fmt.Sprintf(" Further mechanisms in the tables below: %d.", left)
	}
	if slices.ContainsFunc(lines, func(l line) bool { return strings.HasSuffix(l.name, results.ScopeMark) }) {
		t.Legend += " " + results.ScopeMark + " Its guarantee holds between some words only, and it does not compete."
	}
	return t
}
