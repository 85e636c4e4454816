package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// candidates returns a legend's text about the adversary's candidates.
func candidates(p *results.Prepared) string {
	if p.FullError {
		return ", all words being candidates"
	}
	return ", among few candidates"
}

// AxisNote explains the measure of privacy of an axis in a legend.
func AxisNote(p *results.Prepared, quantity string) string {
	switch a, _ := results.AxisOf(quantity); {
	case quantity == results.EM:
		return "E_M: share of words that the MAP adversary gets wrong, uniform prior" + candidates(p)
	case a.OfAttackers():
		return results.MustColumn(quantity).Title + ": share that the strongest attacker finds, chosen on other documents, " +
			"or, where none was chosen, the best of all that were run on the same ones"
	case a.Quantity != "":
		return results.MustColumn(quantity).Title + ", of the MAP adversary, all words being candidates"
	}
	return results.MustColumn(quantity).Title
}

// Within writes the value of a line with its interval.
func Within(l compare.Line, digits int) string {
	if !l.Reached {
		return NotMeasured
	}
	return WithEnds(l.Value, l.Low, l.High, digits)
}

// intervalNote explains the intervals of package compare.
const intervalNote = "± half the 95% interval: test documents, repetitions, the error of E_M, and what is not " +
	"known of the line between two measured ε. "

// alignment tabulates accuracy at equal privacy on every axis that was measured,
// and the tests of all pairs at the levels of the view.
func (s sheet) alignment(task results.Task) (tables []Table) {
	own := s.Select(func(c results.Cell) bool { return c.Task() == task || c.IsBaseline() })
	for _, axis := range results.Axes {
		tables = append(tables, s.aligned(own, task, axis))
	}
	for _, level := range s.Stated().At {
		tables = append(tables, s.pairs(own, task, level))
	}
	return tables
}

// aligned is the table of one axis. Axes besides the main one are shown where
// two mechanisms can be compared.
func (s sheet) aligned(own *results.Prepared, task results.Task, axis results.Axis) Table {
	var levels []float64
	var scenes [][]compare.Aligned // by level
	fewest, name, what := 1, "aligned-accuracy", "equal error of the adversary"
	if axis.Quantity != results.EM {
		fewest, name, what = 2, "aligned-"+axis.Name, "equal "+axis.Title()
	}
	for i, a := range compare.AtLevels(own, compare.Question{Privacy: axis.Quantity}, compare.AllLevels) {
		if slices.ContainsFunc(a, func(a compare.Aligned) bool { return a.Reached() >= fewest }) {
			levels, scenes = append(levels, compare.AllLevels[i]), append(scenes, a)
		}
	}
	if len(levels) == 0 {
		return Table{}
	}
	suffix := namesOf(task)
	t := s.named(Slug(append([]string{name}, suffix...)...),
		"Accuracy in % at "+what+", "+strings.Join(suffix, ", "))
	type at struct { // a mechanism at a level
		where string
		level float64
		compare.Line
	}
	var lines []at
	var columns []Column[at]
	for j, level := range levels {
		columns = append(columns, Column[at]{axis.Title(), fmt.Sprint(level), func(l at) bool { return l.level == level },
			func(_ *Table, own []at) TableCell { return number(Within(own[0].Line, 2), own[0].Value) }})
		for _, scene := range scenes[j] { // the same, with the same lines, at every level
			for _, l := range scene.Lines {
				lines = append(lines, at{scene.Where(), level, l})
			}
		}
	}
	Pivot(&t, lines, []Head[at]{{Title: "data set, space", Text: func(l at) string { return l.where }},
		{"mechanism", func(l at) string { return l.Name }, func(t *Table, name string, own []at) TableCell {
			return promiseCell(t, name, results.Where(s.Cells, func(c results.Cell) bool {
				return c.Instance() == own[0].Instance
			}))
		}}}, columns, 0)
	t.markBest(2, true, func(int) bool { return true })
	t.Legend = AxisNote(s.Prepared, axis.Quantity) + ". Values lie on the mechanism's own line through the " +
		"measured ε, which is monotone; " +
		NotMeasured + " where it has no measured ε on either side of the level, or none within 0.7 of each other. " +
		intervalNote + "Bold: highest of a column and data set."
	return t
}

// namesOf are those of a task, for names and titles of tables.
func namesOf(t results.Task) []string {
	if t.Setting == "" {
		return []string{t.Model}
	}
	return []string{t.Model, t.Setting}
}

// PairTexts are the difference of a pair with half its interval, its p-value and
// its verdict, as tables print them.
func PairTexts(difference, low, high, adjusted float64, told bool) (d, p, verdict string) {
	verdict = "not told apart"
	if told {
		verdict = "told apart"
	}
	return fmt.Sprintf("%+.2f ± %.2f", difference, (high-low)/2), formatAdjusted(adjusted), verdict
}

// pairs tabulates the tests of all pairs of mechanisms at one level.
func (s sheet) pairs(own *results.Prepared, task results.Task, level float64) Table {
	suffix := namesOf(task)
	t := s.named(Slug(append(append([]string{"pairs"}, suffix...), fmt.Sprint(level))...), fmt.Sprintf(
		"Accuracy at %s = %g, pair by pair, %s", axisTitle(own), level, strings.Join(suffix, ", ")))
	t.Header = []string{"data set, space", "mechanism", "against", "difference", "p (Holm)", "verdict",
		"detectable", "documents that would tell"}
	for _, a := range compare.Align(own, compare.Question{}, level) {
		for k, p := range a.Pairs {
			difference, chance, verdict := PairTexts(p.Difference, p.Low, p.High, p.Adjusted, p.Told)
			documents := fmt.Sprint(p.Documents)
			switch {
			case p.Told:
				documents = ""
			case p.Documents == 0:
				documents = "no number"
			case p.Documents < 0:
				documents = NotMeasured
			}
			t.AddRow(a.Where(), a.Lines[p.A].Name, a.Lines[p.B].Name, difference, chance, verdict,
				FormatNumber(p.Detectable, 2), documents)
			t.Rows[len(t.Rows)-1][0].Separator = k == 0
		}
	}
	t.Legend = "Both on their own line at the same level. Differences of the same repetitions (and documents, where " +
		"their outcomes are stored); the interval also holds the errors of both measures and lines. The spread of " +
		"repetitions is pooled over all mechanisms of the table, so that another one changes the intervals of the " +
		"others. Holm-corrected over " +
		"all pairs of a data set and space at 5%. Detectable: the difference that would be found with probability " +
		"80%. Documents: how many in the test set would tell a difference of this size; no number where " +
		"repetitions, a better measure of privacy or more ε are what is missing."
	return t
}

// pointsLost is the loss of accuracy at which E_M and attackers are compared.
const pointsLost = 5

// promises are, for each space of a task, what every mechanism promises, whether
// an audit found it kept, how much error the adversary makes where pointsLost
// points of accuracy are lost, and how fast it is.
func (s sheet) promises(task results.Task) []Table {
	var tables []Table
	all := s.Select(func(c results.Cell) bool { return c.Task() == task || c.IsBaseline() })
	spaces := results.Spaces(results.Where(all.Private(), func(c results.Cell) bool { return c.Has(results.EM) }))
	for _, space := range spaces {
		own := all.Select(func(c results.Cell) bool { return c.Space() == space })
		scenes := compare.AtLoss(own, compare.Question{Use: results.EM, Privacy: "accuracy"}, pointsLost)
		datasets := results.Distinct(own.Private(), func(c results.Cell) string { return c.Dataset })
		name, title := Slug("promises", task.Model, task.Setting), fmt.Sprintf("Promise, verdict, privacy at %d points "+
			"of accuracy lost, and speed, %s, %s", pointsLost, task.Model, task.Setting)
		if len(spaces) > 1 {
			name, title = Slug(name, space.String()), title+", "+space.String()
		}
		t := s.named(name, title)
		for _, head := range []string{"mechanism", "promise", "kept?"} {
			t.column("", head)
		}
		for _, d := range datasets {
			t.column(fmt.Sprintf("E_M at %d points lost,", pointsLost), results.DatasetTitle(d))
		}
		t.column("", "words/s")
		for _, i := range results.Instances(own.Private()) {
			cells := results.Where(own.Private(), func(c results.Cell) bool { return c.Instance() == i })
			row := []TableCell{promiseCell(&t, s.Labels[i], cells), {Text: promiseOf(cells)}, {Text: s.verdict(i)}}
			for _, d := range datasets {
				row = append(row, TableCell{Text: errorAtLoss(scenes, d, i)})
			}
			t.Rows = append(t.Rows, append(row, TableCell{Text: spanned(speeds(results.Texts(cells)))}))
		}
		t.Legend = "Promise: the distance in which ε counts. Kept: \"not refuted\" is what an audit says that found no " +
			"violation, no proof; " + NotMeasured + " where none was run. " + fmt.Sprintf("E_M, the share of words "+
			"that the MAP adversary gets wrong%s, where accuracy is %d points below that of plain text, on the "+
			"mechanism's own line. > all ε lose less, so that the error is greater than the largest measured; < all ε "+
			"lose more. ", candidates(s.Prepared), pointsLost) + intervalNote + "Higher is better. Words/s: median " +
			"(least to greatest) over data sets, ε and repetitions of a text from nothing, tables included, wall clock " +
			"as run: cells that run at once, and whatever else ran, share the machine."
		tables = append(tables, t)
	}
	return tables
}

// promiseOf says what the cells of one instance promise.
func promiseOf(cells []results.Cell) string {
	c := cells[0]
	switch {
	case !slices.ContainsFunc(cells, func(c results.Cell) bool { return c.Status != results.StatusUndefined }):
		return "undefined"
	case c.GuaranteeMetric == "":
		return "none"
	case c.GuaranteeScope != "":
		return "ε, " + c.GuaranteeMetric + ", some words"
	}
	return "ε, " + c.GuaranteeMetric
}

// verdict is what the audit says of an instance, over all ε it was audited at,
// with the factor by which every ε could be wrong that it would have found.
func (s sheet) verdict(i results.Instance) string {
	text, detects := NotMeasured, 0.0
	for _, a := range s.Audit {
		if a.Instance() == i && a.Detects > 0 {
			detects = max(detects, float64(a.Detects))
		}
		switch {
		case a.Instance() != i || !a.Lower.Known():
		case a.Violated && a.Promises:
			return "refuted"
		case a.Violated:
			text = "violates ε"
		case text == NotMeasured && a.Promises:
			text = "not refuted"
		case text == NotMeasured:
			text = "nothing to keep"
		}
	}
	if text == "not refuted" && detects > 0 {
		text += fmt.Sprintf(" (finds %.3g×)", detects)
	}
	return text
}

// errorAtLoss prints the E_M of an instance on a data set, or the side on which
// it was not measured.
func errorAtLoss(scenes []compare.Aligned, dataset string, i results.Instance) string {
	for _, a := range scenes {
		for _, l := range a.Lines {
			if a.Dataset != dataset || l.Instance != i || math.IsNaN(a.At) {
				continue
			}
			errors := results.Cells{Cells: l.Cells}.Values(results.EM)
			switch {
			case l.Reached:
				return Within(l, 2)
			case l.Least > a.At:
				return "> " + FormatNumber(slices.Max(errors), 2)
			case l.Most < a.At:
				return "< " + FormatNumber(slices.Min(errors), 2)
			}
		}
	}
	return NotMeasured
}

// inSentence writes "Vickrey, proved" as "Vickrey (proved)", for lists whose
// commas separate mechanisms.
func inSentence(name string) string {
	if mechanism, variant, found := strings.Cut(name, ", "); found {
		return mechanism + " (" + variant + ")"
	}
	return name
}

// speeds returns the speed of privatising each text of some cells without
// prepared tables, in words per second: the words of one repetition divided by
// the whole time of the call that privatised it, which several repetitions may
// have shared.
func speeds(texts []results.Cell) (out []float64) {
	for _, c := range texts {
		if v := float64(c.Get("words_per_second") / c.Get("privatize_texts")); v > 0 && !math.IsInf(v, 0) {
			out = append(out, v)
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
