package tables

import (
	"fmt"
	"math"
	"strings"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// Equal are the tables that compare mechanisms at the levels of a view: places,
// all pairs, and where the order changes. There are none where no two mechanisms
// reach a level.
func Equal(p *results.Prepared) []Table {
	all := Named(All(p), "pairs-", "order")
	if len(Named(all, "pairs-")) == 0 {
		return nil
	}
	if t, ok := AtFirstLevel(p, math.MaxInt); ok {
		all = append([]Table{t}, all...)
	}
	return append([]Table{Ranking(p, compare.Question{}, p.Stated().At, false)}, all...)
}

// mostReversed is how many reversed pairs a row names.
const mostReversed = 3

// order tabulates where the order of mechanisms changes: with the measure of
// privacy, the classifier and the data set.
func (s sheet) order() Table {
	t := s.named("order", "Where the order of mechanisms changes")
	t.Header = []string{"data set, space", "classifier", "equal", "mechanisms", "first", "compared with", "pairs",
		"other way round", "told apart in both", "reversed"}
	first := map[results.Scene]compare.Aligned{} // whatever the task
	var top *compare.Aligned
	for _, axis := range results.Axes {
		for _, a := range compare.Fullest(s.Prepared, axis) {
			at := results.Scene{Dataset: a.Dataset, Space: a.Space}
			reference, ok := first[at]
			with := ""
			switch {
			case ok:
				with = equal(reference) + ", " + reference.Task.String()
			case axis.Quantity != results.EM:
				continue // nothing to compare it with
			case top != nil:
				first[at], reference, with = a, *top, top.Where()
			default:
				first[at], top = a, &a
			}
			row := []string{a.Where(), a.Task.String(), equal(a),
				fmt.Sprint(a.Reached()), inSentence(leader(a)), with, "", "", "", ""}
			if with != "" {
				r := a.Reorder(reference)
				row[6], row[7], row[8] = fmt.Sprint(r.Common), fmt.Sprint(r.Opposite), fmt.Sprint(r.Told)
				row[9] = reversed(r)
			}
			t.AddRow(row...)
		}
	}
	t.Legend = "Every scene at that level of an axis which most mechanisms reach. First: most accuracy at this level, " +
		"with or without a promise. Of the pairs of mechanisms that both comparisons hold: how many have their means " +
		"the other way round, how many are told apart in both (all pairs tested, Holm, 5%), and which of these are " +
		"reversed: > keeps more here, less there; " + NotMeasured + " where no pair is told apart in both. Levels of " +
		"two axes are not the same privacy: the row says only whether the order is the same."
	if len(t.Rows) == 1 { // nothing to compare it with
		t.Rows = nil
	}
	return t
}

func equal(a compare.Aligned) string {
	return fmt.Sprintf("%s = %g", results.MustColumn(a.Privacy).Title, a.At)
}

// leader is the mechanism with the best use.
func leader(a compare.Aligned) string {
	best := compare.Line{}
	up := results.MustColumn(a.Use).Direction != results.Down
	for _, l := range a.Lines {
		if l.Reached && (!best.Reached || (l.Value > best.Value) == up) {
			best = l
		}
	}
	return best.Name
}

func reversed(r compare.Reordered) string {
	switch {
	case r.Told == 0: // no pair could have been seen to change
		return NotMeasured
	case len(r.Reversed) == 0:
		return "none"
	}
	var pairs []string
	for _, pair := range r.Reversed[:min(mostReversed, len(r.Reversed))] {
		pairs = append(pairs, inSentence(pair[0].Name)+" > "+inSentence(pair[1].Name))
	}
	text := fmt.Sprintf("%d: %s", len(r.Reversed), strings.Join(pairs, "; "))
	if len(r.Reversed) > mostReversed {
		text += "; …"
	}
	return text
}
