package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// scenes are what is compared at the levels of an analysis: those of single data sets first, by their names.
func scenes(a *analysis.Analysis, use quantity.Quantity) []analysis.Alignment {
	var all []analysis.Alignment
	for _, level := range a.Levels().At {
		all = append(all, a.Alignments(use.Name, level)...)
	}
	slices.SortStableFunc(all, func(x, y analysis.Alignment) int {
		order := cmp.Compare(x.Datasets, y.Datasets)
		if order != 0 {
			return order
		}
		return strings.Compare(x.Dataset, y.Dataset)
	})
	return all
}

// compared is the quantity that mechanisms are compared by in place of one, which may be that of the levels.
func compared(a *analysis.Analysis, q quantity.Quantity) quantity.Quantity {
	return quantity.Must(a.Use(q.Name))
}

// inShort is a quantity whose percentages have one digit, as their intervals are wider.
func inShort(c quantity.Quantity) quantity.Quantity {
	if c.Unit == "%" {
		c.Digits = 1
	}
	return c
}

// Equal are the items of the use at equal privacy, the highest first. Bold and underlined follow from the tests of all
// pairs, and from nothing else.
func Equal(a *analysis.Analysis, q quantity.Quantity) (items []Item) {
	all := scenes(a, q)
	q = inShort(compared(a, q))
	shares := sharesOfBest{}
	for _, s := range all {
		if s.Datasets > 0 {
			continue
		}
		best, alone := s.Best()
		for i, l := range s.Lines {
			x := lineItem(s, l, q)
			if slices.Contains(best, i) && s.Training != "" {
				x.Best = alone
				x.Tied = !alone && len(best) > 1
			}
			if !l.Reached {
				x.Notes = slices.Insert(x.Notes, 0, notReached(all, s, l))
			} else if len(best) > 0 {
				shares.add(x, l.Value/s.Lines[best[0]].Value)
			}
			items = append(items, x)
		}
		plain := end(s.Place, NotPrivatised, q, s.Baseline)
		plain.At = s.At
		plain.Privacy = s.Privacy
		items = append(items, plain)
	}
	order := a.Levels().At
	slices.SortStableFunc(items, func(x, y Item) int {
		level := slices.Index(order, x.At) - slices.Index(order, y.At)
		if level != 0 {
			return level
		}
		return cmp.Compare(shares.rank(y), shares.rank(x))
	})
	return items
}

// lineItem is the use of a mechanism at a level, and where the variance of training is from.
func lineItem(s analysis.Alignment, l analysis.Line, q quantity.Quantity) Item {
	x := Item{
		Place:    l.Place,
		Quantity: q,
		At:       s.At,
		Privacy:  s.Privacy,
		Value:    l.Value,
		Low:      l.Low,
		High:     l.High,
		Cells:    l.Cells,
	}
	switch s.Training {
	case analysis.ByBaseline:
		x.Notes = append(x.Notes, "the variance of training is taken from "+s.Training)
	case "":
		x.Notes = append(x.Notes, "not tested: "+analysis.Untested)
	}
	return x
}

// sharesOfBest are the shares of the best use that a mechanism has at a level, of each data set.
type sharesOfBest map[mechanismAt][]float64

type mechanismAt struct {
	level float64
	results.Place
}

func (s sharesOfBest) add(i Item, share float64) {
	at := mechanismAt{i.At, i.Instance()}
	s[at] = append(s[at], share)
}

// rank orders mechanisms by the mean of their shares; what was not compared is behind, and plain text last.
func (s sharesOfBest) rank(i Item) float64 {
	own := s[mechanismAt{i.At, i.Instance()}]
	switch {
	case len(own) > 0 && i.Quantity.Direction == quantity.Down:
		return -stats.Mean(own)
	case len(own) > 0:
		return stats.Mean(own)
	case i.IsBaseline():
		return math.Inf(-1)
	}
	return -math.MaxFloat64 // not hidden
}

// differences say about where each mechanism reaches a level, and which ones it is significantly different from there:
// over all data sets where there are several.
func differences(a *analysis.Analysis, use quantity.Quantity) (items []Item) {
	all := scenes(a, use)
	pooled := slices.ContainsFunc(all, func(s analysis.Alignment) bool { return s.Datasets > 0 })
	for _, s := range all {
		for i, l := range s.Lines {
			x := Item{Place: l.Place, Quantity: use, At: s.At, Privacy: s.Privacy}
			if s.Datasets == 0 {
				items = append(items, x.saysNumber("ε", Short(l.Epsilon), l.Epsilon))
			}
			if pooled == (s.Datasets > 0) {
				items = append(items, x.says("differs from", differentFrom(a, s, i)))
			}
		}
	}
	return items
}

// differentFrom names the mechanisms that a line is significantly different from.
func differentFrom(a *analysis.Analysis, s analysis.Alignment, line int) string {
	if s.Training == "" || !s.Lines[line].Reached {
		return "not tested"
	}
	others := list.Map(s.DifferentFrom(line), func(o analysis.Line) string { return a.MarkedName(o.Place) })
	switch {
	case len(others) == 0:
		return "none"
	case len(others) > 2 && len(others) == s.Reached()-1:
		return "all"
	}
	return strings.Join(others, ", ")
}

// notReached says where a line was measured that does not reach a level, over all data sets where it does not.
func notReached(all []analysis.Alignment, at analysis.Alignment, line analysis.Line) string {
	least := math.Inf(1)
	most := math.Inf(-1)
	around := true
	for _, s := range all {
		for _, l := range s.Lines {
			if s.At != at.At || l.Reached || len(l.Points) == 0 || l.Instance() != line.Instance() {
				continue
			}
			first := l.Points[0].Privacy
			last := l.Points[len(l.Points)-1].Privacy
			low := min(first, last)
			high := max(first, last)
			least = min(least, low)
			most = max(most, high)
			around = around && low <= s.At && s.At <= high
		}
	}
	from := Number(least, 2)
	to := Number(most, 2)
	text := fmt.Sprintf("not reached: measured at %s %s", quantity.Must(at.Privacy).Title, from)
	if to != from {
		text += " to " + to
	}
	if around {
		text += ", with nothing near " + Short(at.At)
	}
	return text
}
