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
	"mldpbench/results/views"
)

// view is a prepared run with what all its figures share.
type view struct {
	views.Sheet
	private []results.Cell
	curves  []results.Place // instances in the order of legends
	styles  map[results.Place]Style
	named   map[results.Place]bool // the eight that are not grey where there are more
}

// compareInstances puts curves in the order of legends: that of their definitions,
// those without one last; t=0.5 comes before t=0.75 before t=1.
func compareInstances(a, b results.Place) int {
	rank := func(i results.Place) int {
		if d, err := mechanisms.Find(i.Mechanism); err == nil {
			return d.Order
		}
		return math.MaxInt
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Mechanism, b.Mechanism),
		cmp.Compare(variantRank(a), variantRank(b)), cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(len(a.Parameters), len(b.Parameters)), cmp.Compare(a.Parameters, b.Parameters),
		cmp.Compare(a.Label, b.Label))
}

// variantRank is the position of a variant in its definition.
func variantRank(i results.Place) int {
	d, err := mechanisms.Find(i.Mechanism)
	if err != nil {
		return 0
	}
	return max(0, slices.Index(d.Variants, mechanisms.Variant(i.Variant)))
}

// constant reports whether ε has no effect on a mechanism.
func constant(i results.Place) bool {
	d, err := mechanisms.Find(i.Mechanism)
	return err == nil && d.Constant
}

func newView(p *results.Prepared) *view {
	v := &view{Sheet: views.NewSheet(p), private: p.Private(), styles: map[results.Place]Style{},
		named: map[results.Place]bool{}}
	v.curves = results.Distinct(v.private, func(c results.Cell) results.Place { return c.Instance() })
	slices.SortFunc(v.curves, compareInstances)
	leading := slices.DeleteFunc(v.Leading(), constant)
	for _, id := range leading[:min(maxCurves, len(leading))] {
		v.named[id] = true
	}
	taken := map[int]bool{} // markers
	coloured := func(id results.Place) bool { return v.named[id] || constant(id) }
	for _, id := range slices.Concat(results.Where(v.curves, coloured),
		results.Where(v.curves, func(id results.Place) bool { return !coloured(id) })) {
		style := Style{Look: LookOf(id.Mechanism)}
		style.Dash = (style.Dash + 3*variantRank(id)) % len(dashes)
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

// drawing is one figure of a declared view: the cells, and what it is about.
type drawing struct {
	*view
	views.View
	cells []results.Cell // of one space, task and whatever else splits it
	x     []results.Column
	y     results.Column
}

// epsilon stands for the quantity ε.
var epsilon = results.Column{Name: views.Epsilon, Title: "privacy parameter ε"}

// figures are those of a declared view.
func (v *view) figures(d views.View) (out []Figure) {
	x := views.Quantities(v.private, []string{d.X})
	if d.X == views.Epsilon {
		x = []results.Column{epsilon}
	}
	for _, y := range views.Quantities(v.private, d.Y) {
		if y.Name == "accuracy" && d.Name == "values" {
			continue // it has a figure of its own
		}
		by := append(results.Projection{"generated", "space"}, d.Split...)
		if y.OfModel {
			by = append(by, "model", "setting")
		}
		cells := results.Where(v.private, func(c results.Cell) bool {
			return c.Has(y.Name) || c.Status == results.StatusUndefined
		})
		split := results.Distinct(cells, func(c results.Cell) results.Place { return by.Of(c.Place) })
		for _, at := range split {
			own := drawing{v, d, results.Where(cells, func(c results.Cell) bool { return by.Of(c.Place) == at }), x, y}
			if f, err := own.figure(at, own.name(at, split)); err == nil {
				out = append(out, f)
			}
		}
	}
	return out
}

// name is that of the file: of the view, and what tells its figures apart.
func (d drawing) name(at results.Place, all []results.Place) string {
	parts := []string{d.View.Name}
	if d.View.Name == "values" {
		parts = []string{d.y.Name}
	}
	for _, c := range []string{"dataset", "space", "task", "generated"} {
		texts := results.Distinct(all, func(p results.Place) string { return d.Text(views.Item{Place: p}, c) })
		if len(texts) > 1 {
			parts = append(parts, d.Text(views.Item{Place: at}, c))
		}
	}
	return views.Slug(parts...)
}

func (d drawing) figure(at results.Place, name string) (Figure, error) {
	title := strings.NewReplacer("{y}", d.y.Heading(), "{x}", d.x0().Heading()).Replace(d.View.Title)
	if !results.Subscripted.MatchString(title[:min(4, len(title))]) {
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	var with []string
	for _, c := range []string{"dataset", "space", "task"} {
		if text := d.Text(views.Item{Place: at}, c); text != "" && (c != "dataset" || at.Dataset != "") {
			with = append(with, text)
		}
	}
	title = strings.Join(append([]string{title}, with...), ", ")
	panels := d.panels()
	d.limit(panels)
	notes := append([]string{d.Note}, d.notes(d.cells)...)
	f, err := Curves(name, title+GeneratedMark(d.cells), panels, slices.DeleteFunc(notes,
		func(s string) bool { return s == "" })...)
	f.with = strings.Join(with, ", ")
	return f, err
}

func (d drawing) x0() results.Column {
	if len(d.x) == 0 {
		return results.Column{}
	}
	return d.x[0]
}

// panels are one for each value of the coordinate that panels go by, or quantity.
func (d drawing) panels() (out []Panel) {
	if slices.Contains(d.Panel, "quantity") {
		for _, x := range d.x {
			p := d.panel(x, d.cells)
			p.Title, p.X.Label = x.Title, strings.Trim(strings.TrimPrefix(p.X.Label, x.Heading()), " ()")
			out = append(out, p)
		}
		return out
	}
	by := results.Projection(d.Panel)
	keys := results.Distinct(d.cells, func(c results.Cell) results.Place { return by.Of(c.Place) })
	slices.SortStableFunc(keys, func(a, b results.Place) int {
		return cmp.Or(compareInstances(a.Instance(), b.Instance()), cmp.Compare(a.Dataset, b.Dataset))
	})
	for _, k := range keys {
		if constant(k) && d.View.X == views.Epsilon {
			continue // there is nothing to see over ε
		}
		own := results.Where(d.cells, func(c results.Cell) bool { return by.Of(c.Place) == k })
		p := d.panel(d.x0(), own)
		p.Title = strings.Join(list.Map(d.Panel, func(c string) string { return d.Text(views.Item{Place: k}, c) }), ", ")
		out = append(out, p)
	}
	return out
}

// panel draws y over x.
func (d drawing) panel(x results.Column, cells []results.Cell) Panel {
	p := Panel{X: axisOf(cells, x), Y: axisOf(cells, d.y), InPlace: x.Name != epsilon.Name}
	by := results.Projection(d.Curve)
	keys := results.Distinct(cells, func(c results.Cell) results.Place { return by.Of(c.Place) })
	ofMechanisms := slices.Equal(d.Curve, []string{"mechanism"})
	if ofMechanisms {
		slices.SortStableFunc(keys, compareInstances)
	} else {
		slices.SortStableFunc(keys, func(a, b results.Place) int { return cmp.Compare(a.Dataset, b.Dataset) })
	}
	all := results.Distinct(d.cells, func(c results.Cell) results.Place { return by.Of(c.Place) })
	slices.SortStableFunc(all, func(a, b results.Place) int { return cmp.Compare(a.Dataset, b.Dataset) })
	for _, k := range keys {
		own := results.Where(cells, func(c results.Cell) bool { return by.Of(c.Place) == k })
		label := strings.Join(list.Map(d.Curve, func(c string) string { return d.Text(views.Item{Place: k}, c) }), ", ")
		c := Curve{Label: label, Name: label, Style: seriesStyle(slices.Index(all, k)), Points: points(own, x, d.y)}
		if ofMechanisms {
			c.Style = d.styles[k]
		}
		if len(c.Points) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	if len(cells) > 0 && ofMechanisms {
		if l, ok := d.plain(cells[0].Place); ok {
			p.Levels = append(p.Levels, l)
		}
	}
	return p
}

// plain is y without privatisation.
func (d drawing) plain(at results.Place) (Level, bool) {
	own := results.Where(d.Cells, func(c results.Cell) bool {
		scene := c.Scene()
		scene.Setting = at.Setting
		return c.IsBaseline() && scene == at.Scene()
	})
	mean, low, high, ok := views.Mean(own, d.y.Name)
	return Level{"not privatised", mean, low, high}, ok
}

// points are the means of some cells at each ε, ascending.
func points(cells []results.Cell, x, y results.Column) (out []Point) {
	at := results.Distinct(cells, func(c results.Cell) results.Optional { return c.Epsilon })
	slices.SortFunc(at, func(a, b results.Optional) int { return cmp.Compare(a.Float(), b.Float()) })
	for _, e := range at {
		own := results.Where(cells, func(c results.Cell) bool { return c.Epsilon == e })
		q := Point{X: e.Float()}
		var ok bool
		if q.Y, q.Low, q.High, ok = views.Mean(own, y.Name); !ok {
			continue
		}
		if x.Name != epsilon.Name {
			if q.X, _, _, ok = views.Mean(own, x.Name); e.Known() {
				q.At = "ε " + short(e.Float())
			}
		}
		if ok && finite(q.X) {
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
			grey[v.Text(views.Item{Place: id}, "mechanism")] = !v.named[id]
		}
	}
	there := map[string]bool{}
	for _, p := range panels {
		for _, c := range p.Curves {
			if _, ours := grey[c.Label]; ours {
				there[c.Label] = true
			}
		}
	}
	if len(there) <= maxCurves {
		return
	}
	for _, p := range panels {
		for i := range p.Curves {
			p.Curves[i].Style.Subdued = grey[p.Curves[i].Label]
		}
	}
}

// axisOf returns the axis of a quantity.
func axisOf(cells []results.Cell, q results.Column) Axis {
	if q.Name == epsilon.Name {
		return epsilonAxis(results.Epsilons(cells))
	}
	a := Axis{Label: q.Heading()}
	switch {
	case q.Name == results.EM:
		a.Label, a.Bound = "best guess of a word wrong, E_M", &[2]float64{0, 1}
	case q.Attacker != "" && q.Direction == results.Up:
		a.Label += " (low: attacker wins)"
	case q.Attacker != "":
		a.Label += " (high: attacker wins)"
	case q.Unit == "%":
		a.Bound = percent
	}
	if q.Share {
		a.Bound = &[2]float64{0, 1}
	}
	return a
}

// GeneratedMark returns the mark of numbers that are not about real text.
func GeneratedMark(shown []results.Cell) string {
	switch n := list.Count(shown, func(c results.Cell) bool { return c.Generated }); n {
	case 0:
		return ""
	case len(shown):
		return " — generated data"
	}
	return " — partly generated data"
}

// notes are the footnotes that cells need.
func (v *view) notes(shown []results.Cell) (out []string) {
	few, most := results.Repeated(results.Where(shown,
		func(c results.Cell) bool { return c.Status != results.StatusUndefined }))
	count := fmt.Sprint(most)
	if few < most {
		count = fmt.Sprintf("%d to %d", few, most)
	}
	switch {
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
			out = append(out, fmt.Sprintf("%s is undefined at ε = %s.", v.Text(views.Item{Place: id}, "mechanism"),
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
	SVG         string // an svg element; curves are groups of class series, points of class p
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
func Sketches(p *results.Prepared, declared []views.View) (page Page) {
	v := newView(p)
	page.Notes = v.notes(v.private)
	drawn := map[string]bool{}
	for _, d := range declared {
		if len(page.Sketches) > 0 || !slices.Equal(d.Panel, []string{"dataset"}) {
			continue
		}
		for _, f := range v.figures(d) {
			for _, q := range f.panels {
				q.live = true
				svg, ok := q.sketch()
				if !ok {
					continue
				}
				for _, c := range q.Curves {
					drawn[c.Label] = true
				}
				page.Sketches = append(page.Sketches, Sketch{q.Title, f.with, svg})
			}
		}
	}
	many := list.Count(v.curves, func(id results.Place) bool { return !constant(id) }) > maxCurves
	for _, id := range v.curves {
		if label := v.Text(views.Item{Place: id}, "mechanism"); drawn[label] {
			page.Legend = append(page.Legend, Key{label, v.styles[id].Swatch(), many && !v.named[id] && !constant(id), id.Own()})
		}
	}
	return page
}

// sketch draws the panel alone.
func (p Panel) sketch() (svg string, ok bool) {
	drawn, ok := p.plot()
	if !ok {
		return "", false
	}
	f := Figure{Title: p.Y.Label + " against " + p.X.Label, width: sketchWidth, height: sketchHeight,
		draw: func(c draw.Canvas) { drawn.Draw(draw.Crop(c, 0, -6, 0, -4)) }}
	return f.svg(""), true
}
