package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

// view is a prepared run with what all its figures share.
type view struct {
	*analysis.Analysis
	private []results.Cell
	curves  []results.Place // instances in the order of legends
	styles  map[results.Place]Style
	named   map[results.Place]bool // the eight that are not grey where there are more
}

// compareInstances puts curves in the order of legends: that of their definitions,
// those without one last; t=0.5 comes before t=0.75 before t=1.
func compareInstances(a, b results.Place) int {
	order, variant := rank(a)
	otherOrder, otherVariant := rank(b)
	return cmp.Or(cmp.Compare(order, otherOrder), cmp.Compare(a.Mechanism, b.Mechanism),
		cmp.Compare(variant, otherVariant), cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(len(a.Parameters), len(b.Parameters)), cmp.Compare(a.Parameters, b.Parameters),
		cmp.Compare(a.Label, b.Label))
}

// rank is the place of a mechanism in the registry, and that of its variant in its definition.
func rank(i results.Place) (order, variant int) {
	d, err := mechanisms.Find(i.Mechanism)
	if err != nil {
		return math.MaxInt, 0
	}
	return d.Order, max(0, slices.Index(d.Variants, mechanisms.Variant(i.Variant)))
}

// constant reports whether ε has no effect on a mechanism.
func constant(i results.Place) bool {
	d, err := mechanisms.Find(i.Mechanism)
	return err == nil && d.Constant
}

func newView(a *analysis.Analysis) *view {
	v := &view{Analysis: a, private: a.Private(), styles: map[results.Place]Style{},
		named: map[results.Place]bool{}}
	v.curves = results.Distinct(v.private, func(c results.Cell) results.Place { return c.Instance() })
	slices.SortFunc(v.curves, compareInstances)
	for _, own := range v.leading() {
		if id := own[0].Instance(); !constant(id) && len(v.named) < maxCurves {
			v.named[id] = true
		}
	}
	taken := map[int]bool{} // markers
	coloured := func(id results.Place) bool { return v.named[id] || constant(id) }
	for _, id := range slices.Concat(results.Where(v.curves, coloured),
		results.Where(v.curves, func(id results.Place) bool { return !coloured(id) })) {
		style := Style{Look: LookOf(id.Mechanism)}
		_, variant := rank(id)
		style.Dash = (style.Dash + 3*variant) % len(dashes)
		alike := results.Where(v.curves, func(o results.Place) bool {
			return o.Mechanism == id.Mechanism && compareInstances(o, id) < 0
		})
		if k := len(alike); k > 0 {
			style.Color = shade(style.Color, shades[k%len(shades)])
			style.Dash = (style.Dash + 3 + k) % len(dashes)
		}
		for range shapes { // one of its own, as far as there are any
			if !taken[style.Marker] {
				break
			}
			style.Marker = (style.Marker + 1) % len(shapes)
		}
		taken[style.Marker] = true
		own := results.Where(v.private, func(c results.Cell) bool { return c.Instance() == id })
		style.Hollow = results.Mark(own) == results.UnprovedMark
		style.Reference = constant(id)
		style.NoLine = style.Reference
		v.styles[id] = style
	}
	return v
}

// leading are the cells of each mechanism: of the user's own, then of those that compete
// by what they keep at equal privacy, then of the others, each in the order of the plan.
func (v *view) leading() [][]results.Cell {
	reached := results.Where(private(views.Equal(v.Analysis, results.MustColumn("accuracy"))), func(i views.Item) bool {
		return !math.IsNaN(i.Value)
	})
	kept, all := results.Distinct(reached, views.Item.Instance), results.ByInstance(v.private)
	class := func(own []results.Cell) int {
		k := slices.Index(kept, own[0].Instance())
		switch {
		case own[0].Own():
			return -1
		case k < 0:
			return 2 * len(all)
		case results.Mark(own) != "":
			return k + len(all)
		}
		return k
	}
	slices.SortStableFunc(all, func(a, b []results.Cell) int { return cmp.Compare(class(a), class(b)) })
	return all
}

// figures are those of a declared view: one for each set of its items.
func (v *view) figures(d views.View) (out []Figure) {
	for _, set := range views.Sets(v.Analysis, d) {
		if d.X == views.Level { // what does not reach it says nothing
			set.Items = results.Where(set.Items, func(i views.Item) bool { return !math.IsNaN(i.Value) })
		}
		notes := v.notes(cellsOf(set.Items), d.X == views.Level)
		if len(d.Mean) > 0 { // of bars: there are none
			notes = notes[1:]
		}
		notes = append([]string{d.Note}, notes...)
		f, err := Curves(set.Name, set.Title, v.panels(d, set.Items), slices.DeleteFunc(notes,
			func(s string) bool { return s == "" })...)
		if err == nil {
			f.with = set.With
			out = append(out, f)
		}
	}
	return out
}

// private are the items of mechanisms.
func private(items []views.Item) []views.Item {
	return results.Where(items, func(i views.Item) bool { return !i.IsBaseline() })
}

func cellsOf(items []views.Item) []results.Cell {
	return slices.Concat(list.Map(private(items), func(i views.Item) []results.Cell { return i.Cells })...)
}

// group gathers the items of mechanisms, in the order of legends and of data sets.
func (v *view) group(items []views.Item, by []string) []views.Set {
	groups := views.Group(v.Analysis, private(items), by)
	slices.SortStableFunc(groups, func(a, b views.Set) int {
		x, y := a.Items[0], b.Items[0]
		if !slices.Contains(by, "mechanism") {
			return cmp.Compare(x.Dataset, y.Dataset)
		}
		return cmp.Or(compareInstances(x.Instance(), y.Instance()), cmp.Compare(x.Dataset, y.Dataset))
	})
	return groups
}

// panels are one for each value of the coordinate that panels go by or, where that is
// the quantity, for each quantity that y is over.
func (v *view) panels(d views.View, items []views.Item) (out []Panel) {
	over := views.Quantities(v.private, []string{d.X})
	if d.X == views.Epsilon || d.X == views.Level {
		over = []results.Column{{Name: d.X}}
	}
	for _, x := range over {
		if slices.Contains(d.Panel, "quantity") && d.X != views.Epsilon {
			p := v.panel(d, x, items, items)
			p.Title, p.X.Label = x.Title, strings.Trim(strings.TrimPrefix(p.X.Label, x.Heading()), " ()")
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
func (v *view) panel(d views.View, x results.Column, items, all []views.Item) Panel {
	first := private(items)[0]
	p := Panel{X: axisOver(private(items), x), Y: axisOf(first.Quantity), Apart: map[string]float64{views.Epsilon: 1.6,
		views.Level: 6}[x.Name]}
	p.Y.Log = d.Log
	ofMechanisms := slices.Equal(d.Curve, []string{"mechanism"})
	order := list.Map(v.group(all, d.Curve), func(g views.Set) string { return g.Title })
	for _, own := range v.group(items, d.Curve) {
		c := Curve{Label: own.Title, Style: seriesStyle(slices.Index(order, own.Title)),
			Points: points(own.Items, x)}
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
func points(items []views.Item, x results.Column) (out []Point) {
	items = slices.SortedStableFunc(slices.Values(items), func(a, b views.Item) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Epsilon.Float(), b.Epsilon.Float()))
	})
	for _, i := range items {
		q := Point{X: i.Epsilon.Float(), Y: i.Value, Low: i.Low, High: i.High}
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
	if list.Count(there, func(label string) bool { _, ours := grey[label]; return ours }) <= maxCurves {
		return
	}
	for _, p := range panels {
		for i := range p.Curves {
			p.Curves[i].Style.Subdued = grey[p.Curves[i].Label]
		}
	}
}

// axisOver returns the axis of what items are over.
func axisOver(items []views.Item, x results.Column) Axis {
	switch x.Name {
	case views.Epsilon:
		return marked("privacy parameter ε", results.Epsilons(cellsOf(items)))
	case views.Level:
		return marked("compared at "+results.MustColumn(items[0].Privacy).Title,
			list.Map(items, func(i views.Item) float64 { return i.At }))
	}
	return axisOf(x)
}

// axisOf returns the axis of a quantity.
func axisOf(q results.Column) Axis {
	a := Axis{Label: q.Heading()}
	switch {
	case q.Name == results.EM:
		a.Label, a.Bound = "best guess of a word wrong, E_M", &[2]float64{0, 1}
	case q.Attacker != "" && q.Direction == results.Up:
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

// notes are the footnotes that cells need.
func (v *view) notes(shown []results.Cell, aligned bool) (out []string) {
	few, most := results.Repeated(results.Where(shown,
		func(c results.Cell) bool { return c.Status != results.StatusUndefined }))
	count := fmt.Sprint(most)
	if few < most {
		count = fmt.Sprintf("%d to %d", few, most)
	}
	switch {
	case aligned:
		out = append(out, "Bars: 95% intervals, as in the table of what is kept at equal privacy.")
	case most > 1 && few < stats.FewRepetitions:
		out = append(out, fmt.Sprintf("Bars: 95%% t interval over only %s repetitions: wide.", count))
	case most > 1:
		out = append(out, fmt.Sprintf("Bars: 95%% t interval over %s repetitions.", count))
	default:
		out = append(out, "One repetition: of training nothing is known, so what is trained has no bars.")
	}
	if _, found := results.Unproved(shown); found {
		out = append(out, results.UnprovedMark+" This variant guarantees nothing.")
	}
	if results.Scope(shown) != "" {
		out = append(out, results.ScopeMark+" Its guarantee holds only between some words, those of one group or list: "+
			"no full promise.")
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

// Page are the pictures of a page: a panel for each data set.
type Page struct {
	Sketches []Sketch
	Legend   []Key
	Notes    []string
}

// Sketch is a panel of a page.
type Sketch struct {
	Title, With string // data set; space and task
	SVG         string // an svg element; curves are groups of class series, in each one of class points
}

// Key explains a mechanism.
type Key struct {
	Label  string // attribute data-s of its curves, with the marks of its guarantee
	Swatch string // an svg element
	Grey   bool   // its curves are grey until chosen
	Own    bool
}

// The size of a panel of a page, in points.
const (
	sketchWidth  = 250 * vg.Length(1)
	sketchHeight = 172 * vg.Length(1)
)

// Sketches draws the first of the declared figures for which there are data.
func Sketches(a *analysis.Analysis, declared []views.View) (page Page) {
	v := newView(a)
	page.Notes = v.notes(v.private, false)
	drawn := map[string]bool{}
	for _, d := range declared {
		if len(page.Sketches) > 0 || !slices.Equal(d.Panel, []string{"dataset"}) {
			continue
		}
		for _, f := range v.figures(d) {
			for _, q := range f.panels {
				q.live = true
				for _, c := range q.Curves {
					drawn[c.Label] = true
				}
				page.Sketches = append(page.Sketches, Sketch{q.Title, f.with, q.sketch()})
			}
		}
	}
	many := list.Count(v.curves, func(id results.Place) bool { return !constant(id) }) > maxCurves
	for _, id := range v.curves {
		if label := v.MarkedName(id); drawn[label] {
			page.Legend = append(page.Legend, Key{
				Label:  label,
				Swatch: v.styles[id].Swatch(),
				Grey:   many && !v.named[id] && !constant(id),
				Own:    id.Own(),
			})
		}
	}
	return page
}

// sketch draws a panel of a figure alone, as an svg element.
func (p Panel) sketch() string {
	drawn, _ := p.plot() // it was drawn before
	f := Figure{Title: p.Y.Label + " against " + p.X.Label, width: sketchWidth, height: sketchHeight,
		draw: func(c draw.Canvas) { drawn.Draw(draw.Crop(c, 0, -6, 0, -4)) }}
	return f.svg("")
}
