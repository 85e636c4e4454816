package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// partial returns a sentence about the best scoped mechanism where it keeps
// more than the best of all others, else "".
func partial(s compare.Standing) string {
	if len(s.Scoped) == 0 || len(s.Entries) > 0 && s.Scoped[0].Mean <= s.Entries[0].Mean {
		return ""
	}
	e := s.Scoped[0]
	return fmt.Sprintf("%s%s keeps %.1f%% (ε about %.3g), but its guarantee holds only %s", inSentence(e.Name),
		ScopeMark, e.Mean, e.Line.Epsilon, e.Scope)
}

// Sentence states the best mechanism of a standing, its distance from the next
// that is told apart from it, and those that are not.
func Sentence(s compare.Standing) string {
	on := fmt.Sprintf("On %s (%s, %s", results.DatasetTitle(s.Dataset), s.Space, s.Task.Model)
	if s.Task.Setting != "local" && s.Task.Setting != "" {
		on += ", " + s.Task.Setting
	}
	rest := partial(s)
	if rest != "" {
		rest = " " + rest + "."
	}
	if len(s.Entries) == 0 {
		which := "no mechanism with a guarantee"
		if rest != "" {
			which += " between any two words"
		}
		return fmt.Sprintf("%s), %s was measured on both sides of %s.%s", on, which, LevelOf(s.Aligned), rest)
	}
	first := s.Entries[0]
	text := fmt.Sprintf("%s), at %s, %s keeps %.1f%% accuracy (ε about %.3g", on, LevelOf(s.Aligned),
		inSentence(first.Name), first.Mean, first.Line.Epsilon)
	if !math.IsNaN(s.Baseline) {
		text += fmt.Sprintf("; %.1f%% without privatisation", s.Baseline)
	}
	text += ")"
	for _, e := range s.Entries[1:] {
		if pair, ok := s.PairOf(first.Name, e.Name); ok && slices.Contains(first.Worse, e.Name) {
			text += fmt.Sprintf(", %.1f ± %.1f points more than %s", pair.Difference, (pair.High-pair.Low)/2,
				inSentence(e.Name))
			break
		}
	}
	if len(s.Entries) == 1 {
		text += ", the only mechanism with a guarantee that was measured on both sides of this level"
	}
	names := inSentences(first.Open)
	switch n := len(names); n {
	case 0:
	case 1:
		text += "; " + names[0] + " is not distinguishable from it"
	default:
		text += "; " + strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are not distinguishable from it"
	}
	if detectable := smallest(s, first.Open, first.Name); detectable > 0 {
		text += fmt.Sprintf(" (differences above %.1f points would have been found)", detectable)
	}
	return text + "." + rest
}

// LevelOf names the level of an alignment in a sentence.
func LevelOf(a compare.Aligned) string {
	if axis, ok := results.AxisOf(a.Privacy); ok {
		return fmt.Sprintf(axis.Phrase, a.At)
	}
	return fmt.Sprintf("%s = %g", results.MustColumn(a.Privacy).Title, a.At)
}

// smallest is the difference that every test of a mechanism against some others
// would have found.
func smallest(s compare.Standing, others []string, name string) (most float64) {
	for _, o := range others {
		if p, ok := s.PairOf(name, o); ok {
			most = max(most, p.Detectable)
		}
	}
	return most
}

// Headline returns a sentence for each data set at the first stated level.
func Headline(p *results.Prepared) []string {
	var out []string
	for _, s := range compare.Leading(compare.Standings(p, compare.Question{}, p.Stated().At[0])) {
		out = append(out, Sentence(s))
	}
	return out
}

// addStanding appends the row of a standing, with a footnote where a mechanism
// with a partial guarantee keeps more.
func (t *Table) addStanding(s compare.Standing) {
	row := []string{results.DatasetTitle(s.Dataset), s.Space.String(), classifier(s.Aligned),
		fmt.Sprint(s.At)}
	if len(s.Entries) == 0 {
		row = append(row, "none with a guarantee", "", NotMeasured, FormatNumber(s.Baseline, 1), "")
	} else {
		e := s.Entries[0]
		row = append(row, e.Name, fmt.Sprintf("%.3g", e.Line.Epsilon), Within(e.Line, 1),
			FormatNumber(s.Baseline, 1), e.OpenTo())
	}
	t.AddRow(row...)
	if text := partial(s); text != "" {
		cell := &t.Rows[len(t.Rows)-1][4]
		cell.Notes = append(cell.Notes, t.Note(text+"."))
	}
}

func standingsTitle(p *results.Prepared) string {
	if p.Stated().Quantity == results.EM {
		return "Most accuracy at a stated error of the adversary"
	}
	return "Most accuracy at a stated level of privacy"
}

// axisTitle heads a column of levels.
func axisTitle(p *results.Prepared) string { return results.MustColumn(p.Stated().Quantity).Title }

// Brief returns the summary at the end of a run: the best of each data set at
// the stated errors, for one scene each and at most so many rows.
func Brief(p *results.Prepared, rows int) Table {
	var full Table
	for _, level := range p.Stated().At {
		for _, s := range compare.Leading(compare.Standings(p, compare.Question{}, level)) {
			full.addStanding(s)
		}
	}
	t := Table{Name: "brief", Title: standingsTitle(p), Notes: full.Notes, Header: []string{"data set", "measured with",
		axisTitle(p), "best with a guarantee", "ε about", "accuracy in %", "baseline", "not told apart from it"}}
	for _, row := range full.Rows[:min(rows, len(full.Rows))] {
		with, others := row[1], row[8]
		with.Text += ", " + row[2].Text
		if n := strings.Count(others.Text, ";") + 1; n > 3 {
			others.Text = fmt.Sprintf("%d others", n)
		}
		t.Rows = append(t.Rows, []TableCell{row[0], with, row[3], row[4], row[5], row[6], row[7], others})
	}
	if left := len(full.Rows) - len(t.Rows); left > 0 {
		t.Legend = fmt.Sprintf("Further rows on the page: %d.", left)
	}
	return t
}

// Standings returns the main table: the best of each data set and task at the
// stated errors.
func Standings(p *results.Prepared) Table {
	t := Table{Name: "standings", Title: standingsTitle(p), Header: []string{"data set", "space", "classifier",
		axisTitle(p), "mechanism", "ε about", "accuracy", "baseline", "not told apart from it"}}
	for _, level := range p.Stated().At {
		for _, s := range compare.Standings(p, compare.Question{}, level) {
			t.addStanding(s)
		}
	}
	t.Legend = "Of the mechanisms with a guarantee, each on its own line at this level (" + AxisNote(p,
		p.Stated().Quantity) + "); those measured on one side of it only do not compete. " + intervalNote +
		"All pairs of a data set, space and classifier are tested, Holm-corrected at 5%."
	if note := ScopeNote(p.Cells); note != "" {
		t.Legend += note + " It is mentioned where it keeps more, but does not compete."
	}
	return t
}

// ScopeMark follows the name of a mechanism whose guarantee holds between some
// words only, where there is no room to say between which.
const ScopeMark = "‡"

// ScopeNote returns an explanation of the mark where some cell needs it.
func ScopeNote(cells []results.Cell) string {
	if slices.ContainsFunc(cells, func(c results.Cell) bool { return c.GuaranteeScope != "" }) {
		return " " + ScopeMark + " Its guarantee holds only between some words, those of one group or list: " +
			"no full promise."
	}
	return ""
}
