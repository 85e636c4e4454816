package views

import (
	"fmt"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/compare"
)

// Answer is the sentence that a study is run for: which mechanism keeps most at
// equal privacy, which are not told apart from it, and which keep less.
func Answer(p *results.Prepared) string {
	l := compare.Stated(p)
	if len(l.At) == 0 {
		return ""
	}
	scenes := leading(compare.Align(p, compare.Question{Privacy: l.Quantity}, l.At[0]))
	if len(scenes) == 0 {
		return ""
	}
	where := "where " + LevelOf(l.Quantity, l.At[0])
	if l.Quantity == results.EM {
		where = fmt.Sprintf("where the best guess of a word is wrong %s%% of the time", Short(100*l.At[0]))
		where = strings.Replace(where, "50% of the time", "half the time", 1)
	}
	return "At equal privacy, " + where + ", " + answer(scenes)
}

// answer says what a scene a data set found.
func answer(scenes []compare.Aligned) string {
	var most, kept, ties, compete []string // kept: those of most with data set and value; ties: keys of open
	open, below := map[string][]string{}, map[string]int{}
	detectable, tested, several, use := 0.0, true, len(scenes) > 1, results.Column{}
	for _, a := range scenes {
		best, _ := a.Best()
		if len(best) == 0 {
			continue
		}
		tested, use = tested && a.Training != "", inShort(results.MustColumn(a.Use))
		names, dataset := list.Map(a.Lines, name), results.DatasetTitle(a.Dataset)
		most = append(most, names[best[0]])
		kept = append(kept, dataset+" "+Number(a.Lines[best[0]].Value, use.Digits)+strings.TrimPrefix(use.Unit, "×100"))
		var level []string
		for _, i := range best[1:] {
			level = append(level, names[i])
			if pair, ok := a.Pair(best[0], i); ok {
				detectable = max(detectable, pair.Detectable)
			}
		}
		if slices.Sort(level); len(level) > 0 {
			key := strings.Join(level, "\x00")
			if len(open[key]) == 0 {
				ties = append(ties, key)
			}
			open[key] = append(open[key], dataset)
		}
		for i, line := range a.Lines {
			if !line.Reached || !line.Competes() {
				continue
			}
			if !slices.Contains(compete, names[i]) {
				compete = append(compete, names[i])
			}
			if !slices.Contains(best, i) {
				below[names[i]]++
			}
		}
	}
	if len(most) == 0 {
		return "no mechanism with a guarantee was measured."
	}
	one := len(results.Distinct(most, func(s string) string { return s })) == 1
	text := most[0] + " keeps most" + map[bool]string{true: " on each data set"}[several] + " (" +
		strings.Join(kept, ", ") + ")"
	if !one {
		for i := range most {
			most[i] += " (" + kept[i] + ")"
		}
		text = And(most) + " keep most"
	}
	if !tested {
		return text + "; nothing was tested: " + compare.Untested + "."
	}
	verb := map[bool][2]string{false: {" is", " keeps"}, true: {" are", " keep"}}
	for _, key := range ties {
		names := strings.Split(key, "\x00")
		text += "; " + And(names) + verb[len(names) > 1][0] + " not told apart from " +
			map[bool]string{true: "it", false: "the best"}[one]
		if several {
			text += " on " + And(open[key])
		}
	}
	if len(ties) > 0 {
		text += fmt.Sprintf(" (a difference under %s would not show)", Number(detectable, 1))
	}
	if less := results.Where(compete, func(n string) bool { return below[n] == len(kept) }); len(less) > 0 {
		text += "; " + And(less) + verb[len(less) > 1][1] + " less" + map[bool]string{true: " on each"}[several]
	}
	return text + "."
}

// leading keeps one scene for each data set: the one with most repetitions, then
// most mechanisms, tested on private text if there is a choice.
func leading(scenes []compare.Aligned) (out []compare.Aligned) {
	weight := func(a compare.Aligned) []int {
		repetitions := list.Map(a.Lines, func(l compare.Line) int {
			return len(results.Distinct(l.Cells, func(c results.Cell) int { return c.Repetition }))
		})
		return []int{slices.Max(repetitions), a.Reached(), map[string]int{"local": 1}[a.Setting]}
	}
	met := results.Where(scenes, func(a compare.Aligned) bool { return a.Datasets == 0 && a.Reached() > 0 })
	datasets := results.Distinct(met, func(a compare.Aligned) string { return a.Dataset })
	for _, d := range slices.Sorted(slices.Values(datasets)) {
		own := results.Where(met, func(a compare.Aligned) bool { return a.Dataset == d })
		most := func(a, b compare.Aligned) int { return slices.Compare(weight(a), weight(b)) }
		out = append(out, slices.MaxFunc(own, most))
	}
	return out
}

// name writes "Vickrey, proved" as "Vickrey (proved)", for lists whose commas
// separate mechanisms.
func name(l compare.Line) string {
	if mechanism, variant, found := strings.Cut(l.Name, ", "); found {
		return mechanism + " (" + variant + ")"
	}
	return l.Name
}

// And lists names as a sentence does.
func And(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
