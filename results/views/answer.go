package views

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

// Answer is the sentence that a study is run for: which mechanism keeps most at
// equal privacy, which are not told apart from it, and which keep less.
func Answer(a *analysis.Analysis) string {
	levels := a.Levels()
	if len(levels.At) == 0 {
		return ""
	}
	scenes := leading(a.Alignments("", levels.At[0]))
	if len(scenes) == 0 {
		return ""
	}
	where := "where " + LevelOf(levels.Quantity, levels.At[0])
	if levels.Quantity == results.EM {
		where = fmt.Sprintf("where the best guess of a word is wrong %s%% of the time", Short(100*levels.At[0]))
		where = strings.Replace(where, "50% of the time", "half the time", 1)
	}
	return "At equal privacy, " + where + ", " + answer(scenes)
}

// answer says what the scene of each data set found.
func answer(scenes []analysis.Alignment) string {
	var said []string
	for _, a := range scenes {
		best, _ := a.Best()
		if len(best) == 0 {
			continue
		}
		names, use := list.Map(a.Lines, name), inShort(results.MustColumn(a.Use))
		text := fmt.Sprintf("%s keeps most (%s %s%s)", names[best[0]], results.DatasetTitle(a.Dataset),
			Number(a.Lines[best[0]].Value, use.Digits), strings.TrimPrefix(use.Unit, "×100"))
		if a.Training == "" {
			said = append(said, text+"; nothing was tested: "+analysis.Untested)
			continue
		}
		var level, less []string
		detectable := 0.0
		for i, l := range a.Lines {
			if slices.Contains(best[1:], i) {
				pair, _ := a.Pair(best[0], i)
				level, detectable = append(level, names[i]), max(detectable, pair.Detectable)
			} else if l.Reached && l.Competes() && i != best[0] {
				less = append(less, names[i])
			}
		}
		if len(level) > 0 {
			text += fmt.Sprintf("; %s %s not told apart from it (a difference under %s would not show)", And(level),
				map[bool]string{true: "is", false: "are"}[len(level) == 1], Number(detectable, 1))
		}
		if len(less) > 0 {
			text += "; " + And(less) + map[bool]string{true: " keeps", false: " keep"}[len(less) == 1] + " less"
		}
		said = append(said, text)
	}
	if len(said) == 0 {
		return "no mechanism with a guarantee was measured."
	}
	return strings.Join(said, ". ") + "."
}

// leading keeps one scene for each data set: the one with most repetitions, then
// most mechanisms, tested on private text if there is a choice.
func leading(scenes []analysis.Alignment) []analysis.Alignment {
	weight := func(a analysis.Alignment) []int {
		repetitions := list.Map(a.Lines, func(l analysis.Line) int {
			return len(results.Distinct(l.Cells, func(c results.Cell) int { return c.Repetition }))
		})
		return []int{slices.Max(repetitions), a.Reached(), map[string]int{"local": 1}[a.Setting]}
	}
	met := results.Where(scenes, func(a analysis.Alignment) bool { return a.Datasets == 0 && a.Reached() > 0 })
	slices.SortStableFunc(met, func(a, b analysis.Alignment) int { return strings.Compare(a.Dataset, b.Dataset) })
	most := func(a, b analysis.Alignment) int { return slices.Compare(weight(a), weight(b)) }
	return list.Map(list.Group(met, func(a analysis.Alignment) string { return a.Dataset }),
		func(own []analysis.Alignment) analysis.Alignment { return slices.MaxFunc(own, most) })
}

// name writes "Vickrey, proved" as "Vickrey (proved)", for lists whose commas
// separate mechanisms, and says that a mechanism has no guarantee.
func name(l analysis.Line) string {
	said := l.Name
	if mechanism, variant, found := strings.Cut(l.Name, ", "); found {
		said = mechanism + " (" + variant + ")"
	}
	if _, found := results.Unproved(l.Cells); found {
		said += " (no guarantee)"
	}
	return said
}

// And lists names as a sentence does.
func And(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
