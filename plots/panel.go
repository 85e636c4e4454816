package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// Point is one value with its interval. Low and High are NaN when there is no
// interval (one repetition).
type Point struct {
	X, Y      float64
	Low, High float64
}

// Curve is a line through points.
type Curve struct {
	Label  string // with the marks of its guarantee
	Style  Style
	Points []Point
}

// Level is a horizontal line with its interval: the baseline.
type Level struct {
	Label     string
	Y         float64
	Low, High float64 // NaN when there is no interval
}

// Panel is one set of axes with its curves.
type Panel struct {
	Title  string
	X, Y   Axis
	Curves []Curve
	Levels []Level
	// Apart is by how many points curves with the same values of x are shifted
	// sideways, if there is room.
	Apart float64

	live bool // on a page, which can show subdued curves in full
}

// usable drops values that the axes cannot show: missing ones, and 0 where they are
// logarithmic.
func (p Panel) usable(points []Point) (kept []Point) {
	for _, q := range points {
		if finite(q.X) && finite(q.Y) && !(p.X.Log && q.X <= 0) && !(p.Y.Log && q.Y <= 0) {
			if !finite(q.Low) || !finite(q.High) {
				q.Low = math.NaN()
				q.High = math.NaN()
			}
			kept = append(kept, q)
		}
	}
	return kept
}

// plotted is a panel as drawn, with what could not be shown in it.
type plotted struct {
	*plot.Plot
	cut     bool // intervals that go on
	outside bool // references that lie elsewhere
}

// plot draws the panel, or reports that nothing in it can be shown.
func (p Panel) plot() (_ plotted, ok bool) {
	out := plotted{Plot: newPlot(p.X.Label, p.Y.Label)}
	curves := p.usableCurves()
	if len(curves) == 0 {
		return out, false
	}
	levels := results.Where(p.Levels, func(l Level) bool { return finite(l.Y) })
	out.cut = p.setAxes(&out, curves, levels)
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: rule, Width: 0.5}
	out.Add(grid)
	inside := out.inside(curves)
	out.outside = len(inside) < len(curves)
	for _, l := range levels {
		l.add(out.Plot)
	}
	isSubdued := func(c Curve) bool { return c.Style.Subdued } // behind the others
	isNamed := func(c Curve) bool { return !c.Style.Subdued }
	drawn := slices.Concat(results.Where(inside, isSubdued), results.Where(inside, isNamed))
	for i, c := range drawn {
		out.Add(curveLine{c, p.shift(i, drawn), p.live})
	}
	return out, true
}

// usableCurves are the curves with what the axes can show of them, if anything.
func (p Panel) usableCurves() (curves []Curve) {
	for _, c := range p.Curves {
		c.Points = p.usable(c.Points)
		if len(c.Points) > 0 {
			curves = append(curves, c)
		}
	}
	return curves
}

// setAxes sets the axes of a plot to what is in it, and reports whether intervals go on beyond it. References and
// subdued curves count only where there is nothing else.
func (p Panel) setAxes(out *plotted, curves []Curve, levels []Level) (cut bool) {
	isBehind := func(c Curve) bool { return c.Style.Reference || c.Style.Subdued }
	shown := results.Where(curves, func(c Curve) bool { return !isBehind(c) })
	if len(shown) == 0 {
		shown = curves
	}
	xs := newRange(p.X)
	ys := newRange(p.Y)
	var bars []float64
	for _, c := range shown {
		for _, q := range c.Points {
			xs.add(q.X)
			ys.add(q.Y)
			bars = append(bars, q.Low, q.High)
		}
	}
	for _, l := range levels {
		ys.add(l.Y)
		bars = append(bars, l.Low, l.High)
	}
	cut = ys.stretch(bars)
	xs.apply(&out.X, 0.1*max(1, p.Apart/2))
	ys.apply(&out.Y, 0.08)
	return cut
}

// inside are the curves with the points that do not leave the panel: what does not stretch the axes must not.
func (p plotted) inside(curves []Curve) (inside []Curve) {
	isOutside := func(q Point) bool {
		return q.X < p.X.Min || q.X > p.X.Max || q.Y < p.Y.Min || q.Y > p.Y.Max
	}
	for _, c := range curves {
		if c.Style.Reference || c.Style.NoLine {
			c.Points = slices.DeleteFunc(slices.Clone(c.Points), isOutside)
		}
		if len(c.Points) > 0 {
			inside = append(inside, c)
		}
	}
	return inside
}

// shift is how far the i-th of some curves is moved sideways.
func (p Panel) shift(i int, curves []Curve) vg.Length {
	if curves[i].Style.Subdued {
		return 0
	}
	n := float64(len(curves))
	return vg.Length((float64(i) - (n-1)/2) * min(p.Apart, 6.25*p.Apart/n))
}

var levelStyle = Style{Look: Look{Marker: -1}, Level: true}

// add draws the level over the whole width of a plot.
func (l Level) add(p *plot.Plot) {
	at := func(y float64) plotter.XYs {
		y = min(max(y, p.Y.Min), p.Y.Max)
		return plotter.XYs{{X: p.X.Min, Y: y}, {X: p.X.Max, Y: y}}
	}
	if finite(l.Low) && finite(l.High) {
		low := at(l.Low)
		high := at(l.High)
		p.Add(&plotter.Polygon{
			XYs:   []plotter.XYs{{low[0], low[1], high[1], high[0]}},
			Color: color.NRGBA{faint.R, faint.G, faint.B, 0x18},
		})
	}
	p.Add(&plotter.Line{XYs: at(l.Y), LineStyle: levelStyle.line()})
}

// curveLine draws a curve with error bars, shifted sideways by some points.
type curveLine struct {
	Curve
	shift vg.Length
	live  bool
}

func (l curveLine) Plot(c draw.Canvas, p *plot.Plot) {
	class := "series"
	style := ""
	if l.Style.Subdued {
		class = "series rest"
		style = fmt.Sprintf("--c:#%02x%02x%02x", l.Style.Color.R, l.Style.Color.G, l.Style.Color.B)
	}
	group(c, class, func() { l.draw(c, p) }, "data-s", l.Label, "style", style)
}

// draw draws the line, the error bars and the points.
func (l curveLine) draw(c draw.Canvas, p *plot.Plot) {
	c.Min.X += l.shift
	c.Max.X += l.shift
	line := plotter.Line{LineStyle: l.Style.line()}
	bars := plotter.YErrorBars{LineStyle: draw.LineStyle{Color: shade(l.Style.Color, 0.35), Width: 0.7}, CapWidth: 3}
	dots := plotter.Scatter{GlyphStyleFunc: func(int) draw.GlyphStyle {
		return draw.GlyphStyle{
			Color:  l.Style.Color,
			Radius: markerRadius,
			Shape:  marker{l.Style},
		}
	}}
	for _, q := range l.Points {
		at := plotter.XY{X: q.X, Y: q.Y}
		line.XYs = append(line.XYs, at)
		dots.XYs = append(dots.XYs, at)
		if finite(q.Low) && q.High > q.Low {
			bars.XYs = append(bars.XYs, at)
			low := max(q.Low, p.Y.Min)
			high := min(q.High, p.Y.Max)
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{q.Y - low, high - q.Y})
		}
	}
	if !l.Style.NoLine {
		line.Plot(c, p)
	}
	if l.Style.Subdued && !l.live {
		return
	}
	bars.Plot(c, p)
	if l.Style.Marker >= 0 {
		group(c, "points", func() { dots.Plot(c, p) })
	}
}

// maxCurves is how many curves a panel names.
const maxCurves = 8

// curvesFigure draws panels of curves that need not come from a study. The legend holds each label once; notes go
// below. Nothing to draw is an error.
func curvesFigure(name, title string, panels []Panel, notes ...string) (Figure, error) {
	l := layout{
		title:       title,
		notes:       notes,
		panelHeight: 1.42 * vg.Inch,
	}
	cut := false
	outside := false
	var drawn []Panel
	for _, p := range panels {
		own, ok := p.plot()
		cut = cut || own.cut
		outside = outside || own.outside
		if ok {
			l.titles = append(l.titles, p.Title)
			l.panels = append(l.panels, own.Plot)
			drawn = append(drawn, p)
		}
	}
	if len(l.panels) == 0 {
		return Figure{}, fmt.Errorf("%s: no data", name)
	}
	rest := l.explainPanels(drawn)
	if len(rest) > 0 {
		l.explain(legendEntry{
			label: fmt.Sprintf("%d others", len(rest)),
			style: Style{Look: Look{Marker: -1}, Subdued: true},
		})
		l.notes = append(l.notes, "Grey lines: "+strings.Join(rest, ", ")+".")
	}
	if outside {
		l.notes = append(l.notes, "Mechanisms on which ε has no effect are shown where they fit a panel.")
	}
	if cut {
		l.notes = append(l.notes, "Bars without an end go on beyond the panel.")
	}
	if len(drawn) == 1 {
		l.panelHeight = 1.7 * vg.Inch
	}
	f := Figure{
		Name:    name,
		Title:   title,
		panels:  drawn,
		layout:  l,
		Caption: strings.Join(l.notes, " "),
	}
	return f.In(Theme{}), nil
}

// explainPanels adds what panels show to the legend, and returns the labels of subdued curves, which have no entry.
func (l *layout) explainPanels(panels []Panel) (rest []string) {
	for _, p := range panels {
		for _, c := range p.Curves {
			switch {
			case len(c.Points) == 0 || c.Label == "":
			case !c.Style.Subdued:
				l.explain(legendEntry{c.Label, c.Style})
			case !slices.Contains(rest, c.Label):
				rest = append(rest, c.Label)
			}
		}
		for _, v := range p.Levels {
			if v.Label != "" {
				l.explain(legendEntry{v.Label, levelStyle})
			}
		}
	}
	return rest
}

// explain adds an entry to the legend once.
func (l *layout) explain(e legendEntry) {
	if !slices.ContainsFunc(l.legend, func(old legendEntry) bool {
		return old.label == e.label
	}) {
		l.legend = append(l.legend, e)
	}
}

// trimmed returns the panels with the axis labels of the left column and of the
// lowest row only, where they are the same for all.
func (l layout) trimmed() []*plot.Plot {
	var out []*plot.Plot
	sameX := len(l.panels)%l.columns == 0 // a label on some panels of a row would shift them
	sameY := true
	for _, p := range l.panels {
		q := *p
		out = append(out, &q)
		sameX = sameX && p.X.Label.Text == l.panels[0].X.Label.Text
		sameY = sameY && p.Y.Label.Text == l.panels[0].Y.Label.Text
	}
	for i, p := range out {
		if sameY && i%l.columns != 0 {
			p.Y.Label.Text = ""
		}
		if sameX && i+l.columns < len(out) {
			p.X.Label.Text = ""
		}
	}
	return out
}
