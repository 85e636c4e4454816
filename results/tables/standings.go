package tables

import (
	"cmp"
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
		results.ScopeMark, e.Line.Value, e.Line.Epsilon, e.Scope)
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

// Brief returns the summary at the end of a run: the best of each data set at
// the stated levels, for one scene each and at most so many rows, with a footnote
// where a mechanism with a partial guarantee keeps more.
func Brief(p *results.Prepared, rows int) Table {
	t := Table{Name: "brief", Title: "Most accuracy at a stated level of privacy", Header: []string{"data set",
		"measured with", axisTitle(p), "best with a guarantee", "ε about", "accuracy in %", "baseline",
		"not told apart from it"}}
	for _, level := range p.Stated().At {
		for _, s := range compare.Leading(compare.Standings(p, compare.Question{}, level)) {
			best := []string{"none with a guarantee", "", NotMeasured, FormatNumber(s.Baseline, 1), ""}
			if len(s.Entries) > 0 {
				e := s.Entries[0]
				best = []string{e.Line.Name, fmt.Sprintf("%.3g", e.Line.Epsilon), Within(e.Line, 1), best[3], e.OpenTo()}
			}
			t.AddRow(append([]string{results.DatasetTitle(s.Dataset), s.With(), fmt.Sprint(s.At)}, best...)...)
			if text := partial(s); text != "" {
				t.Rows[len(t.Rows)-1][3].Notes = []int{t.Note(text)}
			}
		}
	}
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

// Ranking ranks mechanisms at levels of privacy, and says of each what it is told
// apart from: with all whatever reaches the level, else those that promise
// something, where a promise between some words has no place.
func Ranking(p *results.Prepared, q compare.Question, levels []float64, all bool) Table {
	q = q.Whole(p)
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	if use.Unit == "%" {
		use.Digits = 1 // as everywhere at a level
	}
	t := Table{Name: "places", Title: Capitalised(use.Heading()) + " at equal " + privacy.Heading(),
		Header: []string{"data set", "measured with", privacy.Heading(), "mechanism", use.Heading(), "place", "95% bounds",
			"ε about", "plain text", "told apart from"},
		Legend: "Each on its own line between its measured ε; " + intervalNote + "All pairs of a data set and classifier " +
			"are tested, Holm, 5%, so that the bounds of places hold together with probability 95%."}
	joined := len(results.Distinct(p.Cells, originOf)) > 1
	if joined {
		t.Header = append(t.Header, "measured by")
	}
	for _, level := range levels {
		for _, s := range compare.Standings(p, q, level) {
			entries := slices.Concat(s.Entries, s.Scoped)
			if all {
				entries = s.Ranked()
			}
			for i, e := range entries {
				place, bounds := fmt.Sprint(e.Place), fmt.Sprintf("%d–%d", e.Low, e.High)
				apart := cmp.Or(strings.Join(slices.Concat(e.Better, e.Worse), ", "), "none")
				if !all && i >= len(s.Entries) {
					place, bounds, apart = NotMeasured, NotMeasured, NotMeasured
				}
				row := []string{results.DatasetTitle(s.Dataset), s.With(), fmt.Sprint(level), e.Line.Name,
					Within(e.Line, use.Digits), place, bounds, formatFloat(results.Float(e.Line.Epsilon)),
					FormatNumber(s.Baseline, use.Digits), apart}
				if joined {
					row = append(row, Source(e.Line.Cells))
				}
				t.AddRow(row...)
			}
		}
	}
	return t
}

// Source returns the origin of the measurements: studies, and the versions of
// mldp that ran each.
func Source(cells []results.Cell) string {
	var parts []string
	for _, of := range results.Distinct(cells, originOf) {
		own := results.Where(cells, func(c results.Cell) bool { return originOf(c) == of && c.Version != "" })
		versions := results.Distinct(own, func(c results.Cell) string { return c.Version })
		parts = append(parts, fmt.Sprintf("%s, seed %d, mldp %s, %s", of.study, of.seed, strings.Join(versions, ", "),
			of.machine))
	}
	return strings.Join(parts, ", ")
}

// origin is what tells runs of one board apart.
type origin struct {
	study, machine string
	seed           uint64
}

func originOf(c results.Cell) origin { return origin{c.Study, c.Machine, c.Seed} }
