package views

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// Answer is the sentence that a study is run for: which mechanism has the highest utility at equal privacy, which are
// not significantly different from it, and which have less.
func Answer(a *analysis.Analysis) string {
	levels := a.Levels()
	if len(levels.At) == 0 {
		return ""
	}
	leading := leadingScenes(a.Alignments("", levels.At[0]))
	if len(leading) == 0 {
		return ""
	}
	where := "where " + LevelOf(levels.Quantity, levels.At[0])
	if meaning := quantity.Must(levels.Quantity).Meaning; meaning != "" {
		where += " (" + strings.ReplaceAll(meaning, "{percent}", Short(100*levels.At[0])) + ")"
	}
	var found []string
	for _, s := range leading {
		best, _ := s.Best()
		if len(best) > 0 {
			found = append(found, foundIn(s, best))
		}
	}
	if len(found) == 0 {
		found = append(found, "no mechanism with a guarantee was measured")
	}
	return "At equal privacy, " + where + ", " + strings.Join(found, ". ") + "."
}

// foundIn says what a scene found; best are its lines with the highest utility, that of the first above all.
func foundIn(s analysis.Alignment, best []int) string {
	names := list.Map(s.Lines, nameInSentence)
	use := inShort(quantity.Must(s.Use))
	value := Number(s.Lines[best[0]].Value, use.Digits) + strings.TrimPrefix(use.Unit, "×100")
	text := fmt.Sprintf("%s has the highest utility (%s %s)", names[best[0]], results.DatasetTitle(s.Dataset), value)
	if s.Training == "" {
		return text + "; nothing was tested: " + analysis.Untested
	}
	var similar, less []string
	detectable := 0.0
	for i, l := range s.Lines {
		switch {
		case i == best[0]:
		case slices.Contains(best, i):
			pair, _ := s.Pair(best[0], i)
			similar = append(similar, names[i])
			detectable = max(detectable, pair.Detectable)
		case l.Reached && l.Competes():
			less = append(less, names[i])
		}
	}
	if len(similar) > 0 {
		text += fmt.Sprintf("; no significant difference of %s from it (minimum detectable: %s)", And(similar),
			Number(detectable, 1))
	}
	if len(less) > 0 {
		text += fmt.Sprintf("; %s %s significantly less", And(less), verb(less, "has", "have"))
	}
	return text
}

// verb is the form of a verb for so many.
func verb(subjects []string, singular, plural string) string {
	if len(subjects) == 1 {
		return singular
	}
	return plural
}

// leadingScenes keeps one scene for each data set: the one with most repetitions, then most mechanisms, tested on
// privatised text if there is a choice.
func leadingScenes(all []analysis.Alignment) []analysis.Alignment {
	reached := results.Where(all, func(s analysis.Alignment) bool {
		return s.Datasets == 0 && s.Reached() > 0
	})
	slices.SortStableFunc(reached, func(x, y analysis.Alignment) int {
		return strings.Compare(x.Dataset, y.Dataset)
	})
	byWeight := func(x, y analysis.Alignment) int {
		return slices.Compare(weightOf(x), weightOf(y))
	}
	sets := list.Group(reached, func(s analysis.Alignment) string { return s.Dataset })
	return list.Map(sets, func(own []analysis.Alignment) analysis.Alignment {
		return slices.MaxFunc(own, byWeight)
	})
}

// weightOf is what the leading scene of a data set has most of, the first number above all.
func weightOf(s analysis.Alignment) []int {
	repetitions := 0
	for _, l := range s.Lines {
		own := results.Distinct(l.Cells, func(c results.Cell) int { return c.Repetition })
		repetitions = max(repetitions, len(own))
	}
	local := 0
	if s.Setting == "local" {
		local = 1
	}
	return []int{repetitions, s.Reached(), local}
}

// nameInSentence writes "Vickrey, proved" as "Vickrey (proved)", for lists whose commas separate mechanisms, and says
// that a mechanism has no guarantee.
func nameInSentence(l analysis.Line) string {
	name := l.Name
	mechanism, variant, found := strings.Cut(l.Name, ", ")
	if found {
		name = mechanism + " (" + variant + ")"
	}
	_, unproved := results.Unproved(l.Cells)
	if unproved {
		name += " (no guarantee)"
	}
	return name
}

// And lists names as a sentence does.
func And(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
