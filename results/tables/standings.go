package tables

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// partial returns a sentence about the best scoped mechanism where it keeps
// more than the best of all others, else "".
func partial(s compare.Standing) string {
	if len(s.Scoped) == 0 || len(s.Entries) > 0 && s.Scoped[0].Line.Value <= s.Entries[0].Line.Value {
		return ""
	}
	e := s.Scoped[0]
	return fmt.Sprintf("%s%s keeps %.1f%% (ε about %.3g), but its guarantee holds only %s.", inSentence(e.Line.Name),
		ScopeMark, e.Line.Value, e.Line.Epsilon, e.Scope)
}

// LevelOf names the level of an alignment in a sentence.
func LevelOf(a compare.Aligned) string {
	if axis, ok := results.AxisOf(a.Privacy); ok {
		return fmt.Sprintf(axis.Phrase, a.At)
	}
	return fmt.Sprintf("%s = %g", results.MustColumn(a.Privacy).Title, a.At)
}

// axisTitle heads a column of levels.
func axisTitle(p *results.Prepared) string { return results.MustColumn(p.Stated().Quantity).Title }

// standings has a row for the best of each scene at the stated levels, with a
// footnote where a mechanism with a partial guarantee keeps more.
func standings(p *results.Prepared, name string, chosen func([]compare.Standing) []compare.Standing) Table {
	t := Table{Name: name, Title: "Most accuracy at a stated level of privacy", Header: []string{"data set",
		"measured with", axisTitle(p), "best with a guarantee", "ε about", "accuracy in %", "baseline",
		"not told apart from it"}}
	if p.Stated().Quantity == results.EM {
		t.Title = "Most accuracy at a stated error of the adversary"
	}
	for _, level := range p.Stated().At {
		for _, s := range chosen(compare.Standings(p, compare.Question{}, level)) {
			best := []string{"none with a guarantee", "", NotMeasured, FormatNumber(s.Baseline, 1), ""}
			if len(s.Entries) > 0 {
				e := s.Entries[0]
				best = []string{e.Line.Name, fmt.Sprintf("%.3g", e.Line.Epsilon), Within(e.Line, 1), best[3], e.OpenTo()}
			}
			t.AddRow(append([]string{results.DatasetTitle(s.Dataset), s.Space.String() + ", " + s.Task.String(),
				fmt.Sprint(s.At)}, best...)...)
			if text := partial(s); text != "" {
				t.Rows[len(t.Rows)-1][3].Notes = []int{t.Note(text)}
			}
		}
	}
	return t
}

// Brief returns the summary at the end of a run: the best of each data set at
// the stated errors, for one scene each and at most so many rows.
func Brief(p *results.Prepared, rows int) Table {
	t := standings(p, "brief", compare.Leading)
	if left := len(t.Rows) - rows; left > 0 {
		t.Rows, t.Legend = t.Rows[:rows], fmt.Sprintf("Further rows on the page: %d.", left)
	}
	for _, row := range t.Rows {
		if n := strings.Count(row[7].Text, ";") + 1; n > 3 {
			row[7].Text = fmt.Sprintf("%d others", n)
		}
	}
	return t
}

// Standings returns the main table: the best of each data set and task at the
// stated errors.
func Standings(p *results.Prepared) Table {
	t := standings(p, "standings", func(all []compare.Standing) []compare.Standing { return all })
	t.Legend = "Of the mechanisms with a guarantee, each on its own line at this level (" + AxisNote(p,
		p.Stated().Quantity) + "); those measured on one side of it only do not compete. " + intervalNote +
		"All pairs of a data set, space and classifier are tested, Holm-corrected at 5%."
	if slices.ContainsFunc(p.Cells, func(c results.Cell) bool { return c.GuaranteeScope != "" }) {
		t.Legend += " " + ScopeMark + " Its guarantee holds only between some words, those of one group or list: " +
			"no full promise. It is mentioned where it keeps more, but does not compete."
	}
	return t
}

// ScopeMark follows the name of a mechanism whose guarantee holds between some
// words only, where there is no room to say between which.
const ScopeMark = "‡"
