package tables

import (
	"cmp"
	"fmt"
	"slices"

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
	t := Table{Name: "equal", Title: "Accuracy in % at " + LevelOf(standings[0].Aligned)}
	if standings[0].Privacy == results.EM {
		t.Title = fmt.Sprintf("Accuracy in %% where the adversary gets %g%% of words wrong (E_M = %g)", 100*level, level)
	}
	type entry struct {
		dataset, name string
		compare.Entry
		best compare.Entry
	}
	var all []entry
	var columns []Column[entry]
	shares := map[string][]float64{} // of the best, to sort by
	for _, s := range standings {
		columns = append(columns, Column[entry]{Title: results.DatasetTitle(s.Dataset),
			Of: func(e entry) bool { return e.dataset == s.Dataset }, Cell: func(_ *Table, own []entry) TableCell {
				if len(own) == 0 {
					return TableCell{Text: NotMeasured}
				}
				e := own[0]
				return TableCell{Text: Within(e.Line, 1), Best: e.Line.Name == e.best.Line.Name,
					Above: e.Scope == "" && slices.Contains(e.best.Open, e.Line.Name)}
			}})
		for _, e := range slices.Concat(s.Entries, s.Scoped, s.Without) {
			name := e.Line.Name + results.Mark(e.Line.Cells)
			all = append(all, entry{s.Dataset, name, e, s.Entries[0]})
			shares[name] = append(shares[name], e.Line.Value/s.Entries[0].Line.Value)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Compare(stats.Mean(shares[b.name]), stats.Mean(shares[a.name]))
	})
	Pivot(&t, all, []Head[entry]{{Title: "mechanism", Text: func(e entry) string { return e.name }}}, columns, -1)
	t.Rows = t.Rows[:min(most, len(t.Rows))]
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
	if left := len(shares) - (len(t.Rows) - 1); left > 0 {
		t.Legend += fmt.Sprintf(" Further mechanisms in the tables below: %d.", left)
	}
	marked := func(mark string) bool {
		return slices.ContainsFunc(all, func(e entry) bool { return results.Mark(e.Line.Cells) == mark })
	}
	if marked(results.UnprovedMark) {
		t.Legend += " " + results.UnprovedMark + " No guarantee is declared or known, and it does not compete."
	}
	if marked(results.ScopeMark) {
		t.Legend += " " + results.ScopeMark + " Its guarantee holds between some words only, and it does not compete."
	}
	return t
}
