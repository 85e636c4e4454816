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
	"mldpbench/results/compare"
)

// Item is one number or text, with all that tables and figures go by.
type Item struct {
	results.Place
	Name     string // of the mechanism where it is not the usual one
	Against  string // the other mechanism of a pair
	Level    string // at which mechanisms are compared: "E_M = 0.5"
	Quantity results.Column
	Use      string // what a pair is compared by
	Whole    int    // what a share is one of
	Value    float64
	Low      float64
	High     float64
	Text     string // instead of the number
	Best     bool
	Tied     bool
	Notes    []string
}

// coordinates are those that views name.
var coordinates = append(list.Map(results.Coordinates, func(c results.Coordinate) string { return c.Name }),
	"task", "level", "against", "quantity")

// Text is a coordinate of an item as printed.
func (s Sheet) Text(i Item, coordinate string) string {
	switch coordinate {
	case "dataset":
		if i.Dataset == "" {
			return "all"
		}
		return results.DatasetTitle(i.Dataset)
	case "space":
		return s.SpaceName(i.Place)
	case "mechanism":
		return cmp.Or(i.Name, s.names[i.Instance()])
	case "epsilon":
		if !i.Epsilon.Known() {
			return ""
		}
		return Short(i.Epsilon.Float())
	case "task":
		return s.TaskName(i.Place)
	case "model":
		i.Setting = ""
		return s.TaskName(i.Place)
	case "level":
		return i.Level
	case "against":
		return i.Against
	case "quantity":
		return i.Quantity.Heading()
	case "generated":
		return map[bool]string{true: "generated data"}[i.Generated]
	case "repetition":
		return fmt.Sprint(i.Repetition)
	}
	return map[string]string{"policy": i.Policy, "setting": i.Setting, "cleaning": i.Cleaning,
		"documents": i.DatasetFingerprint, "vectors": i.EmbeddingFingerprint, "seed": fmt.Sprint(i.Seed),
		"train_items": fmt.Sprint(i.TrainItems), "test_items": fmt.Sprint(i.TestItems)}[coordinate]
}

// Sheet is a view with the printed names of its mechanisms.
type Sheet struct {
	*results.Prepared
	names  map[results.Place]string     // with the marks of their guarantees
	levels results.Levels               // stated
	made   map[string][]compare.Aligned // by use
}

func NewSheet(p *results.Prepared) Sheet {
	s := Sheet{p, map[results.Place]string{}, compare.Stated(p), map[string][]compare.Aligned{}}
	cells := map[results.Place][]results.Cell{}
	for _, c := range p.Cells {
		cells[c.Instance()] = append(cells[c.Instance()], c)
	}
	for i, own := range cells {
		s.names[i] = p.Name(i) + results.Mark(own)
	}
	return s
}

// Mean is a quantity of the repetitions of a cell with its 95% interval. This is the
// one rule of bars, in tables and figures: that of the mean over repetitions, none of
// one for what is trained, as nothing is known of training; of attackers, whose
// repetitions share the documents, and of words and texts measured once, their own.
func Mean(cells []results.Cell, quantity string) (mean, low, high float64, ok bool) {
	values := results.ByRepetition(cells, quantity)
	s, c := stats.Summarize(values), results.MustColumn(quantity)
	switch {
	case len(values) == 0 || len(values) == 1 && c.OfModel && c.Attacker == "":
		return s.Mean, math.NaN(), math.NaN(), len(values) > 0
	case len(values) > 1 && c.Attacker == "":
		return s.Mean, s.Low, s.High, true
	}
	var lows, highs []float64
	for _, c := range cells {
		if l, h := c.Interval(quantity); h.Float() > l.Float() {
			lows, highs = append(lows, l.Float()), append(highs, h.Float())
		}
	}
	return s.Mean, stats.Mean(lows), stats.Mean(highs), true
}

// cells are the items of what was measured. A quantity of the text is there once,
// whatever the classifiers.
func (s Sheet) cells(q results.Column) (items []Item) {
	cells := results.Where(s.Cells, func(c results.Cell) bool {
		return c.Has(q.Name) || c.Status == results.StatusUndefined
	})
	if !q.OfModel && q.Attacker == "" {
		cells = results.Texts(results.Where(cells, func(c results.Cell) bool { return !c.IsBaseline() }))
	}
	for _, g := range results.GroupCells(cells) {
		c := g.Cells[0]
		i := Item{Place: c.Place, Quantity: q}
		i.Repetition = 0
		i.Value, i.Low, i.High, _ = Mean(g.Cells, q.Name)
		m, ok := c.At(q.Name)
		switch i.Whole = m.Whole; {
		case c.Status == results.StatusUndefined:
			i.Text, i.Notes = "undefined", []string{strings.TrimPrefix(c.Reason, c.Mechanism+": undefined: ")}
		case ok && q.How != nil:
			i.Notes = append(i.Notes, q.How(m))
		case ok && q.Table == strongest: // whose it is
			i.Text = Within(i.Value, i.Low, i.High, q.Digits) + " " + m.Detail
		}
		for _, i.Setting = range s.settings(c) {
			items = append(items, i)
		}
	}
	if q.Attacker == "" {
		return items
	}
	return append(items, ends(cells, q)...)
}

// strongest is the group of what the strongest attackers find.
const strongest = "strongest"

// settings are those of a cell: that of plain text stands beside each one of its
// classifier.
func (s Sheet) settings(c results.Cell) []string {
	if !c.IsBaseline() || c.Model == "" {
		return []string{c.Setting}
	}
	alike := results.Where(s.Private(), func(o results.Cell) bool {
		return o.Model == c.Model && o.ModelParameters == c.ModelParameters
	})
	if len(alike) == 0 {
		return []string{c.Setting}
	}
	return results.Distinct(alike, func(o results.Cell) string { return o.Setting })
}

// ends are those of an attacker's scale: plain text, and none. They may be ranges, one number for each release.
func ends(cells []results.Cell, q results.Column) (items []Item) {
	for _, end := range []struct {
		name string
		of   func(results.Measured) results.Optional
	}{
		{"plain text", func(m results.Measured) results.Optional { return m.Ceiling }},
		{"guessing", func(m results.Measured) results.Optional { return m.Floor }},
	} {
		for _, at := range results.Distinct(cells, func(c results.Cell) results.Place { return c.Scene() }) {
			low, high, generated := math.Inf(1), math.Inf(-1), false
			for _, c := range cells {
				if m, ok := c.At(q.Name); ok && c.Scene() == at && end.of(m).Known() {
					generated = c.Generated
					low, high = min(low, end.of(m).Float()), max(high, end.of(m).Float())
				}
			}
			i := Item{Place: at, Name: end.name, Quantity: q, Value: low, Low: math.NaN(), High: math.NaN()}
			if i.Mechanism, i.Generated = results.BaselineMechanism, generated; low > high {
				continue
			} else if Number(low, q.Digits) != Number(high, q.Digits) {
				i.Text = Number(low, q.Digits) + "–" + Number(high, q.Digits)
			}
			items = append(items, i)
		}
	}
	return items
}

// LevelOf names a level of a quantity.
func LevelOf(quantity string, at float64) string {
	return fmt.Sprintf("%s = %g", results.MustColumn(quantity).Title, at)
}

// scenes are what is compared at the levels of a view.
func (s Sheet) scenes(use string) (all []compare.Aligned) {
	if made, ok := s.made[use]; ok {
		return made
	}
	for _, level := range s.levels.At {
		all = append(all, compare.Align(s.Prepared, compare.Question{Use: use, Privacy: s.levels.Quantity}, level)...)
	}
	slices.SortStableFunc(all, func(a, b compare.Aligned) int {
		return cmp.Or(cmp.Compare(a.Datasets, b.Datasets), strings.Compare(a.Dataset, b.Dataset))
	})
	s.made[use] = all
	return all
}

// compared is the quantity that mechanisms are compared by where another one is equal.
func (s Sheet) compared(q results.Column) results.Column {
	if q.Name == s.levels.Quantity {
		return results.MustColumn(results.EM)
	}
	return q
}

// equal are the items of what is kept at equal privacy, the most first.
func (s Sheet) equal(q results.Column) (items []Item) {
	q = s.compared(q)
	if q.Unit == "%" {
		q.Digits = 1
	}
	type at struct {
		level string
		results.Place
	}
	mean := map[at][]float64{} // share of the best, by level and mechanism
	scenes := s.scenes(q.Name)
	for _, a := range scenes {
		if a.Datasets > 0 {
			continue
		}
		level := LevelOf(a.Privacy, a.At)
		best, alone := a.Best()
		for i, l := range a.Lines {
			x := Item{Place: l.Place, Level: level, Quantity: q, Value: l.Value, Low: l.Low, High: l.High}
			x.Generated = l.Cells[0].Generated
			tested := slices.Contains(best, i) && a.Training != ""
			x.Best, x.Tied = tested && alone, tested && !alone && len(best) > 1
			if !l.Reached {
				x.Notes = []string{notReached(scenes, a, l)}
			} else if len(best) > 0 {
				k := at{level, l.Instance()}
				mean[k] = append(mean[k], l.Value/a.Lines[best[0]].Value)
			}
			switch a.Training {
			case compare.ByBaseline:
				x.Notes = append(x.Notes, "what is not known of training is taken from "+a.Training)
			case "":
				x.Notes = append(x.Notes, "not tested: "+compare.Untested)
			}
			items = append(items, x)
		}
		plain := Item{Place: a.Place, Name: "not privatised", Level: level, Quantity: q, Value: a.Baseline, Low: math.NaN(),
			High: math.NaN()}
		plain.Mechanism = results.BaselineMechanism
		if len(a.Lines) > 0 {
			plain.Generated = a.Lines[0].Cells[0].Generated
		}
		items = append(items, plain)
	}
	up := map[bool]float64{true: -1, false: 1}[q.Direction == results.Down]
	order := func(i Item) float64 {
		switch own := mean[at{i.Level, i.Instance()}]; {
		case i.IsBaseline():
			return math.Inf(-1)
		case len(own) == 0: // not compared, but not hidden
			return -math.MaxFloat64
		default:
			return up * stats.Mean(own)
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return cmp.Compare(order(b), order(a)) })
	return items
}

// notReached says where a line was measured that does not reach a level, over all
// data sets where it does not.
func notReached(scenes []compare.Aligned, at compare.Aligned, line compare.Line) string {
	least, most, around := math.Inf(1), math.Inf(-1), true
	for _, a := range scenes {
		for _, l := range a.Lines {
			if a.At == at.At && !l.Reached && l.Instance() == line.Instance() && a.Datasets == 0 {
				least, most = min(least, l.Least), max(most, l.Most)
				around = around && l.Least <= a.At && a.At <= l.Most
			}
		}
	}
	c := results.MustColumn(at.Privacy)
	digits := 2
	if c.Unit == "%" {
		digits = 1
	}
	text := fmt.Sprintf("not reached: measured at %s %s", c.Title, Number(least, digits))
	if Number(most, digits) != Number(least, digits) {
		text += " to " + Number(most, digits)
	}
	if around {
		text += ", with nothing near " + Short(at.At)
	}
	return text
}

// Verdict says what the tests of a pair found.
func Verdict(p compare.Pair, use results.Column) string {
	switch {
	case math.IsNaN(p.P):
		return "not tested"
	case p.Told:
		return "told apart"
	case p.Level:
		return fmt.Sprintf("level (± %g)", compare.Margin(use))
	}
	if math.IsNaN(p.Detectable) {
		return "not told apart"
	}
	return fmt.Sprintf("not told apart (under %s would not show)", Number(p.Detectable, 1+max(0, use.Digits-2)))
}

// Difference writes one with half its interval, if it has one.
func Difference(d, low, high float64) string {
	if math.IsNaN(low) {
		return fmt.Sprintf("%+.2f", d)
	}
	return fmt.Sprintf("%+.2f ± %.2f", d, (high-low)/2)
}

// Probability writes a corrected p-value.
func Probability(p float64) string {
	if p < 1e-4 {
		return fmt.Sprintf("%.0e", p)
	}
	return Number(p, 4)
}

// pairs are the items of the tests of all pairs.
func (s Sheet) pairs(use results.Column) (items []Item) {
	use = s.compared(use)
	for _, a := range s.scenes(use.Name) {
		for _, p := range a.Pairs {
			at := Item{Place: a.Lines[p.A].Place, Against: s.names[a.Lines[p.B].Instance()], Level: LevelOf(a.Privacy, a.At),
				Use: use.Title, Value: math.NaN()}
			at.Dataset, at.Generated = a.Dataset, a.Lines[p.A].Cells[0].Generated
			if a.Training == "" {
				at.Notes = []string{"not tested: " + compare.Untested}
			}
			for k, text := range []string{Difference(p.Difference, p.Low, p.High), Probability(p.Adjusted), Verdict(p, use),
				Number(p.Detectable, 2)} {
				at.Quantity = results.Column{Name: pairColumns[k], Title: pairColumns[k]}
				at.Text = text
				items = append(items, at)
				at.Notes = nil
			}
		}
	}
	return items
}

var pairColumns = []string{"difference", "p (Holm)", "verdict", "detectable"}

// Leading are the instances of a view: the user's own, then those that compete by
// what they keep at the first level of privacy, then the others, each in the order of
// the plan. Figures name the first of them.
func (s Sheet) Leading() []results.Place {
	kept := map[results.Place]int{}
	for _, i := range s.equal(results.MustColumn("accuracy")) {
		if _, met := kept[i.Instance()]; !met && !math.IsNaN(i.Value) && !i.IsBaseline() {
			kept[i.Instance()] = len(kept)
		}
	}
	all := results.Instances(s.Private())
	class := func(i results.Place) int {
		k, reached := kept[i]
		switch mark := strings.HasSuffix(s.names[i], results.UnprovedMark) ||
			strings.HasSuffix(s.names[i], results.ScopeMark); {
		case i.Own():
			return -1
		case !reached:
			k = len(all)
			fallthrough
		case mark:
			return k + len(all)
		}
		return k
	}
	slices.SortStableFunc(all, func(a, b results.Place) int { return cmp.Compare(class(a), class(b)) })
	return all
}
