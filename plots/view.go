package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// figures are those of a declared view: one for each set of its items.
func (v *view) figures(d views.View) (out []Figure) {
	for _, set := range views.Sets(v.Analysis, d) {
		items := set.Items
		if d.X == views.Level { // what does not reach it says nothing
			items = results.Where(items, func(i views.Item) bool {
				return !math.IsNaN(i.Value)
			})
		}
		f, err := curvesFigure(set.Name, set.Title, v.panels(d, items), v.notesOf(d, items)...)
		if err == nil {
			f.with = set.With
			out = append(out, f)
		}
	}
	return out
}

// notesOf are the note of a view and the footnotes that its items need.
func (v *view) notesOf(d views.View, items []views.Item) (notes []string) {
	if d.Note != "" {
		notes = append(notes, d.Note)
	}
	shown := cellsOf(items)
	switch {
	case len(d.Mean) > 0: // without bars
	case d.X == views.Level:
		notes = append(notes, "Bars: 95% intervals, as in the table of what is kept at equal privacy.")
	default:
		notes = append(notes, noteOfBars(shown))
	}
	return append(notes, v.notes(shown)...)
}

// private are the items of mechanisms.
func private(items []views.Item) []views.Item {
	return results.Where(items, func(i views.Item) bool { return !i.IsBaseline() })
}

func cellsOf(items []views.Item) []results.Cell {
	cellsOfItem := func(i views.Item) []results.Cell { return i.Cells }
	return slices.Concat(list.Map(private(items), cellsOfItem)...)
}

// group gathers the items of mechanisms, in the order of legends and of data sets.
func (v *view) group(items []views.Item, by []string) []views.Set {
	groups := views.Group(v.Analysis, private(items), by)
	slices.SortStableFunc(groups, func(a, b views.Set) int {
		x := a.Items[0]
		y := b.Items[0]
		byDataset := cmp.Compare(x.Dataset, y.Dataset)
		if !slices.Contains(by, "mechanism") {
			return byDataset
		}
		return firstOf(compareInstances(x.Instance(), y.Instance()), byDataset)
	})
	return groups
}

// panels are one for each value of the coordinate that panels go by or, where that is
// the quantity, for each quantity that y is over.
func (v *view) panels(d views.View, items []views.Item) (out []Panel) {
	over := views.Quantities(v.private, []string{d.X})
	if d.X == views.Epsilon || d.X == views.Level {
		over = []quantity.Quantity{{Name: d.X}}
	}
	for _, x := range over {
		if slices.Contains(d.Panel, "quantity") && d.X != views.Epsilon {
			p := v.panel(d, x, items, items)
			p.Title = x.Title
			p.X.Label = strings.Trim(strings.TrimPrefix(p.X.Label, x.Heading()), " ()")
			out = append(out, p)
			continue
		}
		for _, own := range v.group(items, d.Panel) {
			if slices.Contains(d.Panel, "mechanism") && d.X == views.Epsilon && constant(own.Items[0].Place) {
				continue // there is nothing to see over ε
			}
			p := v.panel(d, x, own.Items, items)
			p.Title = own.Title
			out = append(out, p)
		}
	}
	if d.X != views.Level {
		v.limit(out)
	}
	return out
}

// panel draws items over x; all are those of the figure.
func (v *view) panel(d views.View, x quantity.Quantity, items, all []views.Item) Panel {
	first := private(items)[0]
	p := Panel{X: axisOver(private(items), x), Y: axisOf(first.Quantity)}
	p.Y.Log = d.Log
	switch x.Name {
	case views.Epsilon:
		p.Apart = 1.6
	case views.Level:
		p.Apart = 6
	}
	ofMechanisms := slices.Equal(d.Curve, []string{"mechanism"})
	order := list.Map(v.group(all, d.Curve), func(g views.Set) string { return g.Title })
	for _, own := range v.group(items, d.Curve) {
		c := Curve{
			Label:  own.Title,
			Style:  seriesStyle(slices.Index(order, own.Title)),
			Points: points(own.Items, x),
		}
		if ofMechanisms {
			c.Style = v.styles[own.Items[0].Instance()]
		}
		c.Style.NoLine = c.Style.NoLine || x.Name == views.Level
		if len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	plain := slices.IndexFunc(all, func(i views.Item) bool {
		return i.IsBaseline() && (i.Name == "" || i.Name == views.NotPrivatised) && i.Scene() == first.Scene()
	})
	if ofMechanisms && plain >= 0 {
		p.Levels = []Level{{views.NotPrivatised, all[plain].Value, all[plain].Low, all[plain].High}}
	}
	return p
}

// points are those of a curve, over ascending ε or levels.
func points(items []views.Item, x quantity.Quantity) (out []Point) {
	items = slices.SortedStableFunc(slices.Values(items), func(a, b views.Item) int {
		return firstOf(cmp.Compare(a.At, b.At), cmp.Compare(a.Epsilon.Float(), b.Epsilon.Float()))
	})
	for _, i := range items {
		q := Point{
			X:    i.Epsilon.Float(),
			Y:    i.Value,
			Low:  i.Low,
			High: i.High,
		}
		switch {
		case x.Name == views.Level:
			q.X = i.At
		case x.Name != views.Epsilon:
			q.X, _, _ = views.Mean(i.Cells, x.Name)
		}
		if finite(q.X) && finite(q.Y) {
			out = append(out, q)
		}
	}
	return out
}

// limit greys curves of panels that have more than maxCurves.
func (v *view) limit(panels []Panel) {
	grey := map[string]bool{}
	for _, id := range v.curves {
		if !constant(id) {
			grey[v.MarkedName(id)] = !v.named[id]
		}
	}
	curves := slices.Concat(list.Map(panels, func(p Panel) []Curve { return p.Curves })...)
	there := results.Distinct(curves, func(c Curve) string { return c.Label })
	if list.Count(there, func(label string) bool {
		_, ours := grey[label]
		return ours
	}) <= maxCurves {
		return
	}
	for _, p := range panels {
		for i := range p.Curves {
			p.Curves[i].Style.Subdued = grey[p.Curves[i].Label]
		}
	}
}

// axisOver returns the axis of what items are over.
func axisOver(items []views.Item, x quantity.Quantity) Axis {
	switch x.Name {
	case views.Epsilon:
		return marked("privacy parameter ε", results.Epsilons(cellsOf(items)))
	case views.Level:
		return marked("compared at "+quantity.Must(items[0].Privacy).Title,
			list.Map(items, func(i views.Item) float64 { return i.At }))
	}
	return axisOf(x)
}

// axisOf returns the axis of a quantity.
func axisOf(q quantity.Quantity) Axis {
	a := Axis{Label: q.Heading()}
	switch {
	case q.Axis != "":
		a.Label = q.Axis
		a.Bound = &[2]float64{0, 1}
	case q.Attacker != "" && q.Direction == quantity.Up:
		a.Label += " (low: attacker wins)"
	case q.Attacker != "":
		a.Label += " (high: attacker wins)"
	case q.Unit == "%":
		a.Bound = &[2]float64{0, 100}
	}
	if q.Share {
		a.Bound = &[2]float64{0, 1}
	}
	return a
}

// noteOfBars says what the bars of cells are.
func noteOfBars(shown []results.Cell) string {
	isDefined := func(c results.Cell) bool { return c.Status != results.StatusUndefined }
	few, most := results.Repeated(results.Where(shown, isDefined))
	count := fmt.Sprint(most)
	if few < most {
		count = fmt.Sprintf("%d to %d", few, most)
	}
	switch {
	case most > 1 && few < stats.FewRepetitions:
		return fmt.Sprintf("Bars: 95%% t interval over only %s repetitions: wide.", count)
	case most > 1:
		return fmt.Sprintf("Bars: 95%% t interval over %s repetitions.", count)
	}
	return "One repetition: of training nothing is known, so what is trained has no bars."
}

// notes are the footnotes that cells need, beside that of their bars.
func (v *view) notes(shown []results.Cell) (out []string) {
	if _, found := results.Unproved(shown); found {
		out = append(out, results.UnprovedMark+" This variant guarantees nothing.")
	}
	if results.Scope(shown) != "" {
		out = append(out, results.ScopeMark+" Its guarantee holds only between some words, those of one group or "+
			"list.")
	}
	for _, id := range v.curves {
		at := results.Epsilons(results.Where(shown, func(c results.Cell) bool {
			return c.Instance() == id && c.Status == results.StatusUndefined
		}))
		if len(at) > 0 {
			out = append(out, fmt.Sprintf("%s is undefined at ε = %s.", v.MarkedName(id),
				strings.Join(list.Map(at, short), ", ")))
		}
	}
	return out
}
