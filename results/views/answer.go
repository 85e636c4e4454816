package views

import (
	"fmt"
	"slices"
	"strings"

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
	scenes := Leading(compare.Align(p, compare.Question{Privacy: l.Quantity}, l.At[0]))
	if len(scenes) == 0 {
		return ""
	}
	var firsts, ties []string
	below := map[string]int{} // of names, in how many scenes told apart
	var compete []string
	detectable := 0.0
	tested, several := true, len(scenes) > 1
	on := func(a compare.Aligned) string {
		return map[bool]string{true: " on " + results.DatasetTitle(a.Dataset)}[several]
	}
	open := map[string][]string{} // data sets by the names of ties
	for _, a := range scenes {
		best, _ := a.Best()
		if len(best) == 0 {
			continue
		}
		tested = tested && a.Training != ""
		firsts = append(firsts, fmt.Sprintf("%s%s (%s)", bracketed(a.Lines[best[0]].Name), on(a),
			value(a, a.Lines[best[0]])))
		var names []string
		for _, i := range best[1:] {
			names = append(names, bracketed(a.Lines[i].Name))
			if pair, ok := a.Pair(best[0], i); ok {
				detectable = max(detectable, pair.Detectable)
			}
		}
		if len(names) > 0 {
			key := strings.Join(names, "\x00")
			open[key] = append(open[key], results.DatasetTitle(a.Dataset))
			if !slices.Contains(ties, key) {
				ties = append(ties, key)
			}
		}
		for i, line := range a.Lines {
			if name := bracketed(line.Name); line.Reached && line.Competes() {
				if !slices.Contains(compete, name) {
					compete = append(compete, name)
				}
				if !slices.Contains(best, i) {
					below[name]++
				}
			}
		}
	}
	if len(firsts) == 0 {
		return "At equal privacy, " + phrase(l.Quantity, l.At[0]) + ", no mechanism with a guarantee was measured."
	}
	text := "At equal privacy, " + phrase(l.Quantity, l.At[0]) + ", " + and(firsts) + " " +
		map[bool]string{false: "keeps", true: "keep"}[len(firsts) > 1] + " most"
	if !tested {
		return text + "; nothing was tested: " + compare.Untested + "."
	}
	for _, key := range ties {
		names := strings.Split(key, "\x00")
		text += "; " + and(names) + map[bool]string{false: " is", true: " are"}[len(names) > 1] + " not told apart from it"
		if several {
			text += " on " + and(open[key])
		}
	}
	if len(ties) > 0 {
		text += fmt.Sprintf(" (a difference under %s would not show)", Number(detectable, 1))
	}
	less := results.Where(compete, func(name string) bool { return below[name] == len(scenes) })
	if len(less) > 0 {
		text += "; " + and(less) + map[bool]string{false: " keeps", true: " keep"}[len(less) > 1] + " less" +
			map[bool]string{true: " on each"}[several]
	}
	return text + "."
}

// Leading keeps one scene for each data set: the one with most repetitions, then
// most mechanisms, tested on private text if there is a choice.
func Leading(scenes []compare.Aligned) (out []compare.Aligned) {
	weight := func(a compare.Aligned) []int {
		repetitions := 0
		for _, l := range a.Lines {
			repetitions = max(repetitions, len(results.Distinct(l.Cells, func(c results.Cell) int { return c.Repetition })))
		}
		return []int{repetitions, a.Reached(), map[string]int{"local": 1}[a.Setting]}
	}
	for _, a := range scenes {
		if a.Datasets > 0 || a.Reached() == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(o compare.Aligned) bool { return o.Dataset == a.Dataset })
		if i < 0 {
			out = append(out, a)
		} else if slices.Compare(weight(a), weight(out[i])) > 0 {
			out[i] = a
		}
	}
	return out
}

func value(a compare.Aligned, l compare.Line) string {
	c := results.MustColumn(a.Use)
	if c.Unit == "%" {
		return Number(l.Value, 1) + "%"
	}
	return Number(l.Value, c.Digits)
}

// phrase says what a level is.
func phrase(quantity string, at float64) string {
	switch {
	case quantity == results.EM && at == 0.5:
		return "where the best guess of a word is wrong half the time"
	case quantity == results.EM:
		return fmt.Sprintf("where the best guess of a word is wrong %s%% of the time", Short(100*at))
	}
	return "where " + LevelOf(quantity, at)
}

// bracketed writes "Vickrey, proved" as "Vickrey (proved)", for lists whose commas
// separate mechanisms.
func bracketed(name string) string {
	if mechanism, variant, found := strings.Cut(name, ", "); found {
		return mechanism + " (" + variant + ")"
	}
	return name
}

func and(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
