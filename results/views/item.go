package views

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

// Item is one number or text, with all that tables and figures go by.
type Item struct {
	results.Place
	Name             string  // of the mechanism where it is not the usual one
	Against          string  // the other mechanism of a pair
	At               float64 // the level at which mechanisms are compared, of the quantity Privacy; 0 for none
	Privacy          string
	Scope            string // what two runs are compared in, or the document of a text
	Over             string // the spaces that it is a mean over
	Term             string // of a regression
	Statistic        string // what is said of the quantity, where it is not its value: "p (Holm)"
	Quantity         results.Column
	Whole            int     // what a share is one of
	Value, Low, High float64 // NaN where not known
	Text             string  // instead of the number
	Best, Tied       bool
	Notes            []string
	Cells            []results.Cell // that it was computed from
}

// texts are the coordinates that views name, as printed.
var texts = map[string]func(*analysis.Analysis, Item) string{
	"dataset": func(_ *analysis.Analysis, i Item) string {
		if i.Dataset == "" && i.Scope == "" {
			return "all"
		}
		return results.DatasetTitle(i.Dataset)
	},
	"space":      func(s *analysis.Analysis, i Item) string { return cmp.Or(i.Over, s.SpaceName(i.Place)) },
	"mechanism":  func(s *analysis.Analysis, i Item) string { return cmp.Or(i.Name, s.MarkedName(i.Place)) },
	"epsilon":    func(_ *analysis.Analysis, i Item) string { return strings.Trim(Short(i.Epsilon.Float()), NotMeasured) },
	"policy":     func(_ *analysis.Analysis, i Item) string { return i.Policy },
	"model":      func(s *analysis.Analysis, i Item) string { i.Setting = ""; return s.TaskName(i.Place) },
	"setting":    func(_ *analysis.Analysis, i Item) string { return i.Setting },
	"generated":  func(_ *analysis.Analysis, i Item) string { return map[bool]string{true: "generated data"}[i.Generated] },
	"repetition": func(_ *analysis.Analysis, i Item) string { return strconv.Itoa(i.Repetition) },
	"task":       func(s *analysis.Analysis, i Item) string { return s.TaskName(i.Place) },
	"level":      func(_ *analysis.Analysis, i Item) string { return LevelOf(i.Privacy, i.At) },
	"against":    func(_ *analysis.Analysis, i Item) string { return i.Against },
	"quantity":   func(_ *analysis.Analysis, i Item) string { return i.Quantity.Heading() },
	"statistic":  func(_ *analysis.Analysis, i Item) string { return i.Statistic },
	"scope":      func(_ *analysis.Analysis, i Item) string { return i.Scope },
	"term":       func(_ *analysis.Analysis, i Item) string { return i.Term },
}

// coordinates are their names, in the order in which they are said. What else makes
// other data is in the names of data sets: see results.Prepare.
var coordinates = []string{"dataset", "space", "mechanism", "epsilon", "policy", "model", "setting", "generated",
	"repetition", "task", "level", "against", "quantity", "statistic", "scope", "term"}

// Text is a coordinate of an item as printed.
func Text(s *analysis.Analysis, i Item, coordinate string) string { return texts[coordinate](s, i) }

// says is an item that says something of a place and quantity: a text, or a number as
// it is written, which may have an interval.
func (i Item) says(statistic, text string, number ...float64) Item {
	number = append(number, math.NaN(), math.NaN(), math.NaN())
	i.Statistic, i.Text, i.Value, i.Low, i.High = statistic, text, number[0], number[1], number[2]
	return i
}

// Mean is a quantity of the repetitions of a cell with its 95% interval. This is the
// one rule of bars, in tables and figures: that of the mean over repetitions, none of
// one for what is trained, as nothing is known of training; of attackers, whose
// repetitions share the documents, and of words and texts measured once, their own.
func Mean(cells []results.Cell, quantity string) (mean, low, high float64) {
	values := results.ByRepetition(cells, quantity)
	i, c := stats.MeanInterval(values, 0.95), results.MustColumn(quantity)
	if len(values) == 0 || c.Attacker == "" && (len(values) > 1 || c.OfModel) {
		return i.Estimate, i.Low, i.High // infinite of one
	}
	var lows, highs []float64
	for _, c := range cells {
		if l, h := c.Interval(quantity); h.Float() > l.Float() {
			lows, highs = append(lows, l.Float()), append(highs, h.Float())
		}
	}
	return i.Estimate, stats.Mean(lows), stats.Mean(highs)
}

// cellItems are the items of what was measured. A quantity of the text is there once,
// whatever the classifiers.
func cellItems(s *analysis.Analysis, q results.Column) (items []Item) {
	cells := results.Where(s.Cells, func(c results.Cell) bool {
		return c.Has(q.Name) || c.Status == results.StatusUndefined
	})
	if !q.OfModel {
		cells = results.Texts(cells)
	}
	for _, g := range results.GroupCells(cells) {
		c := g.Cells[0]
		i := Item{Place: c.Place, Quantity: q, Cells: g.Cells}
		i.Repetition = 0
		i.Value, i.Low, i.High = Mean(g.Cells, q.Name)
		m, ok := c.At(q.Name)
		switch i.Whole = m.Whole; {
		case c.Status == results.StatusUndefined:
			i.Text, i.Notes = "undefined", []string{strings.TrimPrefix(c.Reason, c.Mechanism+": undefined: ")}
		case q.Name == "aligned":
			i.Text = map[float64]string{0: "no", 1: "yes"}[i.Value]
		case ok && q.How(m) != "":
			i.Notes = append(i.Notes, q.How(m))
		case ok && q.Table == "strongest": // whose it is
			i.Text = Within(i.Value, i.Low, i.High, q.Digits) + " " + m.Detail
		}
		for _, i.Setting = range settings(s, c) {
			items = append(items, i)
		}
	}
	if q.Attacker == "" {
		return items
	}
	return append(items, ends(cells, q)...)
}

// settings are those of a cell: that of plain text stands beside each one of its
// classifier.
func settings(s *analysis.Analysis, c results.Cell) []string {
	if c.IsBaseline() && c.Model != "" {
		alike := results.Where(s.Private(), func(o results.Cell) bool {
			return o.Model == c.Model && o.ModelParameters == c.ModelParameters
		})
		if len(alike) > 0 {
			return results.Distinct(alike, func(o results.Cell) string { return o.Setting })
		}
	}
	return []string{c.Setting}
}

// Names of items that are no mechanism's: the ends of an attacker's scale, and what
// is kept of plain text.
const PlainText, Guessing, NotPrivatised = "plain text", "guessing", "not privatised"

// end is an item of no mechanism.
func end(at results.Place, name string, q results.Column, value float64) Item {
	at.Mechanism = results.BaselineMechanism
	return Item{Place: at, Name: name, Quantity: q, Value: value, Low: math.NaN(), High: math.NaN()}
}

// ends are those of an attacker's scale: plain text, and none. They may be ranges, one number for each release.
func ends(cells []results.Cell, q results.Column) (items []Item) {
	for k, name := range []string{PlainText, Guessing} {
		for _, own := range list.Group(cells, results.Cell.Scene) {
			low, high := math.Inf(1), math.Inf(-1)
			i := end(own[0].Scene(), name, q, 0)
			for _, c := range own {
				m, _ := c.At(q.Name)
				if x := [2]results.Optional{m.Ceiling, m.Floor}[k]; x.Known() {
					i.Generated, low, high = c.Generated, min(low, x.Float()), max(high, x.Float())
				}
			}
			if i.Value = low; low > high {
				continue
			} else if Number(low, q.Digits) != Number(high, q.Digits) {
				i.Text = Number(low, q.Digits) + "–" + Number(high, q.Digits)
			}
			items = append(items, i)
		}
	}
	return items
}

// LevelOf names a level of a quantity; that of none is empty.
func LevelOf(quantity string, at float64) string {
	if quantity == "" {
		return ""
	}
	return fmt.Sprintf("%s = %s", results.MustColumn(quantity).Title, Short(at))
}

// scenes are what is compared at the levels of an analysis: those of single data sets first, by their names.
func scenes(a *analysis.Analysis, use results.Column) []analysis.Alignment {
	var all []analysis.Alignment
	for _, level := range a.Levels().At {
		all = append(all, a.Alignments(use.Name, level)...)
	}
	slices.SortStableFunc(all, func(x, y analysis.Alignment) int {
		if order := cmp.Compare(x.Datasets, y.Datasets); order != 0 {
			return order
		}
		return strings.Compare(x.Dataset, y.Dataset)
	})
	return all
}

// inShort is a quantity whose percentages have one digit, as their intervals are wider.
func inShort(c results.Column) results.Column {
	if c.Unit == "%" {
		c.Digits = 1
	}
	return c
}

// Equal are the items of what is kept at equal privacy, the most first. Bold and
// underlined follow from the tests of all pairs, and from nothing else.
func Equal(whole *analysis.Analysis, q results.Column) (items []Item) {
	scenes := scenes(whole, q)
	q = inShort(results.MustColumn(whole.Use(q.Name)))
	type at struct {
		level float64
		results.Place
	}
	mean := map[at][]float64{} // share of the best, by level and mechanism
	for _, a := range scenes {
		if a.Datasets > 0 {
			continue
		}
		best, alone := a.Best()
		for i, l := range a.Lines {
			x := Item{Place: l.Place, Quantity: q, At: a.At, Privacy: a.Privacy, Value: l.Value, Low: l.Low, High: l.High,
				Cells: l.Cells}
			tested := slices.Contains(best, i) && a.Training != ""
			x.Best, x.Tied = tested && alone, tested && !alone && len(best) > 1
			if !l.Reached {
				x.Notes = []string{notReached(scenes, a, l)}
			} else if len(best) > 0 {
				k := at{a.At, l.Instance()}
				mean[k] = append(mean[k], l.Value/a.Lines[best[0]].Value)
			}
			switch a.Training {
			case analysis.ByBaseline:
				x.Notes = append(x.Notes, "what is not known of training is taken from "+a.Training)
			case "":
				x.Notes = append(x.Notes, "not tested: "+analysis.Untested)
			}
			items = append(items, x)
		}
		plain := end(a.Place, NotPrivatised, q, a.Baseline)
		plain.At, plain.Privacy = a.At, a.Privacy
		items = append(items, plain)
	}
	up := map[bool]float64{true: -1, false: 1}[q.Direction == results.Down]
	order := func(i Item) float64 {
		if own := mean[at{i.At, i.Instance()}]; len(own) > 0 {
			return up * stats.Mean(own)
		} else if i.IsBaseline() {
			return math.Inf(-1)
		}
		return -math.MaxFloat64 // not compared, but not hidden
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(order(b), order(a)) })
	return items
}

// told says about where each mechanism reaches a level, and which ones it is told
// apart from there: over all data sets where there are several.
func told(s *analysis.Analysis, use results.Column) (items []Item) {
	scenes := scenes(s, use)
	pooled := slices.ContainsFunc(scenes, func(a analysis.Alignment) bool { return a.Datasets > 0 })
	for _, a := range scenes {
		for i, l := range a.Lines {
			x := Item{Place: l.Place, Quantity: use, At: a.At, Privacy: a.Privacy}
			if a.Datasets == 0 {
				items = append(items, x.says("ε", Short(l.Epsilon), l.Epsilon))
			}
			apart := list.Map(a.DifferentFrom(i), func(o analysis.Line) string { return s.MarkedName(o.Place) })
			text := cmp.Or(strings.Join(apart, ", "), "none")
			if a.Training == "" || !l.Reached {
				text = "not tested"
			} else if len(apart) > 2 && len(apart) == a.Reached()-1 {
				text = "all"
			}
			if pooled == (a.Datasets > 0) {
				items = append(items, x.says("told apart from", text))
			}
		}
	}
	return items
}

// notReached says where a line was measured that does not reach a level, over all
// data sets where it does not.
func notReached(scenes []analysis.Alignment, at analysis.Alignment, line analysis.Line) string {
	least, most, around := math.Inf(1), math.Inf(-1), true
	for _, a := range scenes {
		for _, l := range a.Lines {
			if n := len(l.Points); n > 0 && a.At == at.At && !l.Reached && l.Instance() == line.Instance() {
				low, high := l.Points[0].Privacy, l.Points[n-1].Privacy
				low, high = min(low, high), max(low, high)
				least, most, around = min(least, low), max(most, high), around && low <= a.At && a.At <= high
			}
		}
	}
	from, to := Number(least, 2), Number(most, 2)
	text := fmt.Sprintf("not reached: measured at %s %s", results.MustColumn(at.Privacy).Title, from)
	if to != from {
		text += " to " + to
	}
	if around {
		text += ", with nothing near " + Short(at.At)
	}
	return text
}

// pairItems are the items of the tests of all pairs.
func pairItems(s *analysis.Analysis, use results.Column) (items []Item) {
	scenes := scenes(s, use)
	use = results.MustColumn(s.Use(use.Name))
	for _, a := range scenes {
		for _, p := range a.Pairs {
			at := Item{Place: a.Lines[p.A].Place, Against: s.MarkedName(a.Lines[p.B].Place), At: a.At, Privacy: a.Privacy,
				Quantity: results.Column{Name: use.Name, Title: use.Title}}
			if a.Training == "" {
				at.Notes = []string{"not tested: " + analysis.Untested}
			}
			items = append(items, at.tested(p, use, 1)...)
		}
	}
	return items
}

// tested are the statistics of a pair, in units of a quantity.
func (i Item) tested(p analysis.Pair, use results.Column, unit float64) []Item {
	d, low, high, detectable := unit*p.Difference, unit*p.Low, unit*p.High, unit*p.Detectable
	text := fmt.Sprintf("%+.2f ± %.2f", d, (high-low)/2)
	if math.IsNaN(low) {
		text = fmt.Sprintf("%+.2f", d)
	}
	return []Item{i.says("difference", text, d, low, high),
		i.says("p (Holm)", Probability(p.Adjusted), p.Adjusted), i.says("verdict", Verdict(p, use)),
		i.says("detectable", Number(detectable, 2), detectable)}
}

// versionItems are the items of the tests of all pairs of what has outcomes of documents, in points of 100.
func versionItems(s *analysis.Analysis, use results.Column) (items []Item) {
	if use.Derived || !slices.ContainsFunc(s.Private(), func(c results.Cell) bool {
		m, _ := c.At(use.Name)
		return m.Right() != nil
	}) {
		return nil
	}
	unit := map[bool]float64{true: 1, false: 100}[use.Counted]
	a := s.Versions(use.Name)
	for _, p := range a.Pairs {
		other := a.Lines[p.B]
		at := Item{Place: a.Lines[p.A].Place, Against: other.Name, Quantity: use}
		if !math.IsNaN(other.Epsilon) {
			at.Against += ", ε = " + Short(other.Epsilon)
		}
		items = append(items, at.tested(p, use, unit)...)
	}
	return items
}

// Verdict says what the tests of a pair found.
func Verdict(p analysis.Pair, use results.Column) string {
	switch {
	case math.IsNaN(p.P):
		return "not tested"
	case p.Different:
		return "told apart"
	case p.Equivalent:
		return fmt.Sprintf("level (± %g)", analysis.Margin(use))
	case math.IsNaN(p.Detectable):
		return "not told apart"
	}
	return fmt.Sprintf("not told apart (under %s would not show)", Number(p.Detectable, 1+max(0, use.Digits-2)))
}

// Probability writes a corrected p-value.
func Probability(p float64) string {
	if p < 1e-4 {
		return fmt.Sprintf("%.0e", p)
	}
	return Number(p, 4)
}
