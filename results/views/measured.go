package views

import (
	"math"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/quantity"
)

// Mean is a quantity of the repetitions of a cell with its 95% interval. This is the one rule of bars, in tables and
// figures: that of the mean over repetitions, none of one for what is trained, as nothing is known of training; of
// attackers, whose repetitions share the documents, and of words and texts measured once, their own.
func Mean(cells []results.Cell, name string) (mean, low, high float64) {
	values := results.ByRepetition(cells, name)
	overRepetitions := stats.MeanInterval(values, 0.95)
	q := quantity.Must(name)
	if len(values) == 0 || q.Attacker == "" && (len(values) > 1 || q.OfModel) {
		return overRepetitions.Estimate, overRepetitions.Low, overRepetitions.High // infinite of one
	}
	var lows, highs []float64
	for _, c := range cells {
		l, h := c.Interval(name)
		if h.Float() > l.Float() {
			lows = append(lows, l.Float())
			highs = append(highs, h.Float())
		}
	}
	return overRepetitions.Estimate, stats.Mean(lows), stats.Mean(highs)
}

// cellItems are the items of what was measured. A quantity of the text is there once, whatever the classifiers.
func cellItems(a *analysis.Analysis, q quantity.Quantity) (items []Item) {
	cells := results.Where(a.Cells, func(c results.Cell) bool {
		return c.Has(q.Name) || c.Status == results.StatusUndefined
	})
	if !q.OfModel {
		cells = results.Texts(cells)
	}
	for _, g := range results.GroupCells(cells) {
		i := cellItem(g.Cells, q)
		for _, setting := range settings(a, g.Cells[0]) {
			i.Setting = setting
			items = append(items, i)
		}
	}
	if q.Attacker == "" {
		return items
	}
	items = append(items, ends(cells, q, plainText)...)
	return append(items, ends(cells, q, guessing)...)
}

// cellItem is a quantity of the repetitions of one cell.
func cellItem(cells []results.Cell, q quantity.Quantity) Item {
	c := cells[0]
	i := Item{
		Place:    c.Place,
		Quantity: q,
		Cells:    cells,
	}
	i.Repetition = 0
	i.Value, i.Low, i.High = Mean(cells, q.Name)
	m, ok := c.At(q.Name)
	i.Whole = m.Whole
	switch {
	case c.Status == results.StatusUndefined:
		i.Text = "undefined"
		i.Notes = append(i.Notes, strings.TrimPrefix(c.Reason, c.Mechanism+": undefined: "))
	case q.YesNo && i.Value == 0:
		i.Text = "no"
	case q.YesNo && i.Value == 1:
		i.Text = "yes"
	case q.YesNo: // of some repetitions: the number
	case ok && m.How(q) != "":
		i.Notes = append(i.Notes, m.How(q))
	case ok && q.ShowsDetail:
		i.Text = within(i.Value, i.Low, i.High, q.Digits) + " " + m.Detail
	}
	return i
}

// settings are those of a cell: that of plain text stands beside each one of its classifier.
func settings(a *analysis.Analysis, c results.Cell) []string {
	own := []string{c.Setting}
	if !c.IsBaseline() || c.Model == "" {
		return own
	}
	sameModel := results.Where(a.Private(), func(o results.Cell) bool {
		return o.Model == c.Model && o.ModelParameters == c.ModelParameters
	})
	if len(sameModel) == 0 {
		return own
	}
	return results.Distinct(sameModel, func(o results.Cell) string { return o.Setting })
}

// Names of items that are no mechanism's: the ends of an attacker's scale, and what is kept of plain text.
const (
	plainText     = "plain text"
	guessing      = "guessing"
	NotPrivatised = "not privatised"
)

// end is an item of no mechanism.
func end(at results.Place, name string, q quantity.Quantity, value float64) Item {
	at.Mechanism = results.BaselineMechanism
	return Item{
		Place:    at,
		Name:     name,
		Quantity: q,
		Value:    value,
		Low:      math.NaN(),
		High:     math.NaN(),
	}
}

// ends are those of an attacker's scale in each scene: plain text, or guessing. They may be ranges, one number for each
// release.
func ends(cells []results.Cell, q quantity.Quantity, name string) (items []Item) {
	for _, own := range list.Group(cells, results.Cell.Scene) {
		low := math.Inf(1)
		high := math.Inf(-1)
		i := end(own[0].Scene(), name, q, 0)
		for _, c := range own {
			m, _ := c.At(q.Name)
			x := m.Floor
			if name == plainText {
				x = m.Ceiling
			}
			if x.Known() {
				i.Generated = c.Generated
				low = min(low, x.Float())
				high = max(high, x.Float())
			}
		}
		if low > high {
			continue
		}
		i.Value = low
		from := Number(low, q.Digits)
		to := Number(high, q.Digits)
		if from != to {
			i.Text = from + "–" + to
		}
		items = append(items, i)
	}
	return items
}
