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
	answer := answer{several: len(scenes) > 1, open: map[string][]string{}, below: map[string]int{}, tested: true}
	for _, a := range scenes {
		answer.add(a)
	}
	return "At equal privacy, " + phrase(l.Quantity, l.At[0]) + ", " + answer.text()
}

// answer collects what scenes say.
type answer struct {
	several    bool
	first      []string            // best names
	firsts     []string            // with data set and value
	open       map[string][]string // data sets by the names of those not told apart
	ties       []string            // keys of open, in order
	compete    []string
	below      map[string]int // of names, in how many scenes told apart
	detectable float64
	tested     bool
}

func (x *answer) add(a compare.Aligned) {
	best, _ := a.Best()
	if len(best) == 0 {
		return
	}
	x.tested = x.tested && a.Training != ""
	dataset := results.DatasetTitle(a.Dataset)
	name := bracketed(a.Lines[best[0]].Name)
	x.first, x.firsts = append(x.first, name), append(x.firsts, dataset+" "+value(a, a.Lines[best[0]]))
	var names []string
	for _, i := range best[1:] {
		names = append(names, bracketed(a.Lines[i].Name))
		if pair, ok := a.Pair(best[0], i); ok {
			x.detectable = max(x.detectable, pair.Detectable)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		key := strings.Join(names, "\x00")
		if len(x.open[key]) == 0 {
			x.ties = append(x.ties, key)
		}
		x.open[key] = append(x.open[key], dataset)
	}
	for i, line := range a.Lines {
		if name := bracketed(line.Name); line.Reached && line.Competes() {
			if !slices.Contains(x.compete, name) {
				x.compete = append(x.compete, name)
			}
			if !slices.Contains(best, i) {
				x.below[name]++
			}
		}
	}
}

func (x *answer) text() string {
	if len(x.first) == 0 {
		return "no mechanism with a guarantee was measured."
	}
	is := func(names []string, one, more string) string {
		return and(names) + map[bool]string{false: one, true: more}[len(names) > 1]
	}
	one := !slices.ContainsFunc(x.first, func(name string) bool { return name != x.first[0] })
	text := ""
	switch {
	case !x.several:
		text = fmt.Sprintf("%s keeps most (%s)", x.first[0], x.firsts[0])
	case one:
		text = fmt.Sprintf("%s keeps most on each data set (%s)", x.first[0], strings.Join(x.firsts, ", "))
	default:
		var parts []string
		for k, name := range x.first {
			parts = append(parts, fmt.Sprintf("%s (%s)", name, x.firsts[k]))
		}
		text = and(parts) + " keep most"
	}
	if !x.tested {
		return text + "; nothing was tested: " + compare.Untested + "."
	}
	for _, key := range x.ties {
		text += "; " + is(strings.Split(key, "\x00"), " is", " are") + " not told apart from " +
			map[bool]string{true: "it", false: "the best"}[one]
		if x.several {
			text += " on " + and(x.open[key])
		}
	}
	if len(x.ties) > 0 {
		text += fmt.Sprintf(" (a difference under %s would not show)", Number(x.detectable, 1))
	}
	less := results.Where(x.compete, func(name string) bool { return x.below[name] == len(x.first) })
	if len(less) > 0 {
		text += "; " + is(less, " keeps", " keep") + " less" + map[bool]string{true: " on each"}[x.several]
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
	slices.SortStableFunc(out, func(a, b compare.Aligned) int { return strings.Compare(a.Dataset, b.Dataset) })
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
