package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// standings are those of prepared cells outside papers' figures.
func standings(p *results.Prepared, level float64) []compare.Standing {
	return compare.Standings(p.Select(func(c results.Cell) bool { return c.Panel == "" }), compare.Question{}, level)
}

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
		return fmt.Sprintf("%s), %s was measured on both sides of an adversary's error of %g.%s", on, which, s.At, rest)
	}
	first := s.Entries[0]
	text := fmt.Sprintf("%s), at an adversary's error of %g, %s keeps %.1f%% accuracy (ε about %.3g", on, s.At,
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
		text += ", the only mechanism with a guarantee that was measured on both sides of this error"
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

// Headline returns a sentence for each data set at the first stated error.
func Headline(p *results.Prepared) []string {
	var out []string
	for _, s := range compare.Leading(standings(p, compare.StatedErrors[0])) {
		out = append(out, Sentence(s))
	}
	return out
}

// Brief returns the summary at the end of a run: the best of each data set at
// the stated errors, for one scene each and at most so many rows, with a footnote
// where a mechanism with a partial guarantee keeps more.
func Brief(p *results.Prepared, rows int) Table {
	t := Table{Name: "brief", Title: "Most accuracy at a stated error of the adversary", Header: []string{"data set",
		"measured with", "E_M", "best with a guarantee", "ε about", "accuracy in %", "baseline", "not told apart from it"}}
	for _, level := range compare.StatedErrors {
		for _, s := range compare.Leading(standings(p, level)) {
			name, epsilon, accuracy, others := "none with a guarantee", "", NotMeasured, ""
			if len(s.Entries) > 0 {
				e := s.Entries[0]
				name, epsilon, accuracy = e.Name, fmt.Sprintf("%.3g", e.Line.Epsilon), within(e.Line, 1)
				if others = e.OpenTo(); strings.Count(others, ";") > 2 {
					others = fmt.Sprintf("%d others", strings.Count(others, ";")+1)
				}
			}
			t.AddRow(results.DatasetTitle(s.Dataset), fmt.Sprintf("%v, %s (%s)", s.Space, s.Task.Model, s.Task.Setting),
				fmt.Sprint(s.At), name, epsilon, accuracy, FormatNumber(s.Baseline, 1), others)
			if text := partial(s); text != "" {
				t.Rows[len(t.Rows)-1][3].Notes = []int{t.Note(text + ".")}
			}
		}
	}
	if left := len(t.Rows) - rows; left > 0 {
		t.Legend, t.Rows = fmt.Sprintf("Further rows on the page: %d.", left), t.Rows[:rows]
	}
	return t
}

// ScopeMark follows the name of a mechanism whose guarantee holds between some
// words only, where there is no room to say between which.
const ScopeMark = "‡"
