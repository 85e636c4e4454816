package compare

import (
	"cmp"
	"slices"
	"strings"

	"mldpbench/results"
)

// Standing ranks the mechanisms with a guarantee by their use at one level of
// privacy. A guarantee between some words only is weaker than one between any
// two words, so mechanisms with such a guarantee are listed separately and do
// not compete; nor do those without any.
type Standing struct {
	Aligned
	Entries []Entry // best first
	Scoped  []Entry // those whose guarantee holds between some words only, best first
	Without []Entry // those without a guarantee, best first
}

// Entry is a mechanism of a standing.
type Entry struct {
	Line  Line
	Scope string // between which words its guarantee holds, "" for any
	// Place is that by the mean, from 1. Low and High bound the true place: Low is
	// 1 + the number of those that are better beyond chance, High the number of
	// those that are not worse beyond chance, itself included. As tests of all pairs
	// are Holm-corrected, all bounds hold together (simultaneous confidence
	// intervals of ranks: Al Mohamad, Goeman & van Zwet 2022).
	Place, Low, High    int
	Better, Worse, Open []string // names of those that are better or worse beyond chance, or neither
}

// OpenTo lists those that are not told apart from the entry.
func (e Entry) OpenTo() string {
	if n := len(e.Open); n > 1 && len(e.Better)+len(e.Worse) == 0 {
		return "all others"
	}
	return strings.Join(e.Open, "; ")
}

// Standings returns the standings of a prepared view by data set, task and
// space, at one level of privacy. A scene where no mechanism reaches the level
// has no entries.
func Standings(p *results.Prepared, q Question, level float64) []Standing {
	var out []Standing
	for _, a := range Align(p, q, level) {
		s := Standing{Aligned: a}
		var full, scoped, without []int
		for i, l := range a.Lines {
			switch {
			case !l.Reached:
			case !promises(l.Cells):
				without = append(without, i)
			case results.Scope(l.Cells) != "":
				scoped = append(scoped, i)
			default:
				full = append(full, i)
			}
		}
		s.Entries, s.Scoped, s.Without = a.rank(full), a.rank(scoped), a.rank(without)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b Standing) int {
		return cmp.Or(strings.Compare(a.Dataset, b.Dataset), strings.Compare(a.Task.Model, b.Task.Model),
			strings.Compare(a.Task.Setting, b.Task.Setting), cmp.Compare(a.Space.Dimension, b.Space.Dimension))
	})
	return out
}

func promises(cells []results.Cell) bool {
	return !slices.ContainsFunc(cells, func(c results.Cell) bool { return c.GuaranteeMetric == "" })
}

// rank orders some lines by their use, with bounds of their places from the
// tests of all pairs.
func (a Aligned) rank(lines []int) []Entry {
	up := results.MustColumn(a.Use).Direction != results.Down
	entries := make([]Entry, len(lines))
	for k, i := range lines {
		l := a.Lines[i]
		e := Entry{Line: l, Scope: results.Scope(l.Cells)}
		for _, j := range lines {
			if j == i {
				continue
			}
			other := a.Lines[j].Name
			switch p, tested := a.Pair(i, j); {
			case !tested || !p.Told:
				e.Open = append(e.Open, other)
			case (p.Difference > 0) == up:
				e.Worse = append(e.Worse, other)
			default:
				e.Better = append(e.Better, other)
			}
		}
		e.Low, e.High = 1+len(e.Better), len(lines)-len(e.Worse)
		entries[k] = e
	}
	slices.SortStableFunc(entries, func(x, y Entry) int {
		if up {
			return cmp.Compare(y.Line.Value, x.Line.Value)
		}
		return cmp.Compare(x.Line.Value, y.Line.Value)
	})
	for k := range entries {
		entries[k].Place = k + 1
	}
	return entries
}

// Ranked orders all lines that reach the level, whether something is promised or
// not.
func (a Aligned) Ranked() []Entry {
	var reached []int
	for i, l := range a.Lines {
		if l.Reached {
			reached = append(reached, i)
		}
	}
	return a.rank(reached)
}

// Leading keeps the standings of one scene for each data set: the scene with
// most repetitions, then most mechanisms, tested on private text if there is a
// choice.
func Leading(all []Standing) []Standing {
	weight := func(s Standing) []int {
		repetitions, local := 0, 0
		if len(s.Entries) > 0 {
			repetitions = len(s.Entries[0].Line.at.means)
		}
		if s.Task.Setting == "local" {
			local = 1
		}
		return []int{repetitions, len(s.Entries), local}
	}
	var out []Standing
	for _, s := range all {
		i := slices.IndexFunc(out, func(o Standing) bool { return o.Dataset == s.Dataset })
		if i < 0 {
			out = append(out, s)
		} else if slices.Compare(weight(s), weight(out[i])) > 0 {
			out[i] = s
		}
	}
	return out
}
