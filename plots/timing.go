package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// throughputFigures draws words privatised per second: a row per mechanism, a
// dot per space. Values are medians over the releases of a cell, because other
// load sometimes slows a machine and nothing makes it too fast.
func throughputFigures(v *view) ([]Figure, error) {
	shown := results.Texts(v.private)
	r := rows{name: "throughput", title: "Throughput of privatising" + GeneratedMark(shown), axis: "words per second",
		log: true, notes: append([]string{"Includes making a mechanism's tables per word, however many repetitions shared " +
			"them. Medians over cells; cells that run at once share the machine."}, v.warnings(shown)...)}
	styles := make([]Style, len(v.spaces))
	for i, sp := range v.spaces {
		styles[i] = Style{Look: Look{Color: sequential(i, len(v.spaces)), Marker: i}}
		if len(v.spaces) > 1 {
			r.legend = append(r.legend, legendEntry{label: sp.String(), style: withoutLine(styles[i])})
		}
	}
	for _, id := range v.curves {
		row := row{label: v.labels[id]}
		for i, sp := range v.spaces {
			own := results.Where(shown, func(c results.Cell) bool { return c.Instance() == id && c.Space() == sp })
			speeds := results.Cells{Cells: own}.Values("words_per_second")
			if len(speeds) == 0 {
				continue
			}
			slices.Sort(speeds)
			m := (speeds[(len(speeds)-1)/2] + speeds[len(speeds)/2]) / 2
			if m > 0 && finite(m) {
				row.dots = append(row.dots, rowDot{x: m, style: styles[i], tell: magnitude(m) + " words per second, " +
					sp.String()})
			}
		}
		if len(row.dots) > 0 {
			r.rows = append(r.rows, row)
		}
	}
	if len(r.rows) == 0 {
		return nil, fmt.Errorf("no cell has words_per_second")
	}
	return []Figure{r.figure()}, nil
}

func withoutLine(s Style) Style { s.NoLine = true; return s }

// rows is a figure of dots in named rows.
type rows struct {
	name, title, axis string
	log               bool
	ticks             []Tick
	min, max          float64 // of the axis, at least
	one               bool    // a line at 1
	step              vg.Length
	rows              []row
	legend            []legendEntry
	notes             []string
}

type row struct {
	label string
	dots  []rowDot
}

type rowDot struct {
	x     float64
	up    float64 // steps above the middle of the row
	style Style
	tell  string
}

func (r rows) figure() Figure {
	l := layout{title: r.title, notes: r.notes, columns: 1, legend: r.legend}
	p := newPlot(r.axis, "")
	axis := newRange(Axis{Log: r.log, Min: r.min, Max: r.max, Ticks: r.ticks})
	described := r.title + "."
	var labels []string
	most := 0.0
	for _, row := range r.rows {
		labels = append(labels, row.label)
		described += " " + row.label + ":"
		for i, d := range row.dots {
			axis.add(d.x)
			most = max(most, math.Abs(d.up))
			if i > 0 {
				described += ";"
			}
			described += " " + d.tell
		}
		described += "."
	}
	axis.apply(&p.X, 0.05)
	nameRows(p, labels)
	p.Add(r)
	l.add("", p)
	l.panelHeight = vg.Length(len(labels))*(9+2*vg.Length(most)*r.step) + 28
	f := l.figure()
	f.Name, f.Description = r.name, described
	for i, n := range r.notes {
		if i > 0 {
			f.Caption += " "
		}
		f.Caption += n
	}
	return f
}

// Plot draws the dots of each row, top down.
func (r rows) Plot(c draw.Canvas, p *plot.Plot) {
	_, ty := p.Transforms(&c)
	grid := plotter.Grid{Horizontal: draw.LineStyle{Color: Rule, Width: 0.5}}
	grid.Plot(c, p)
	if r.one {
		one := plotter.Line{XYs: plotter.XYs{{X: 1, Y: p.Y.Min}, {X: 1, Y: p.Y.Max}}, LineStyle: levelStyle}
		one.Plot(c, p)
	}
	unit := float64(r.step / (ty(1) - ty(0))) // a step in rows
	for i, row := range r.rows {
		dots := plotter.Scatter{GlyphStyleFunc: func(k int) draw.GlyphStyle {
			return draw.GlyphStyle{Radius: markerRadius, Color: Ink, Shape: told{marker{row.dots[k].style}, row.dots[k].tell}}
		}}
		for _, d := range row.dots {
			dots.XYs = append(dots.XYs, plotter.XY{X: d.x, Y: float64(len(r.rows)-i) - 0.5 + d.up*unit})
		}
		group(c, "series", func() { dots.Plot(c, p) }, "data-s", row.label)
	}
}

// told is a marker that carries a text.
type told struct {
	marker
	tell string
}

func (t told) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, at vg.Point) {
	group(*c, "p", func() { t.marker.DrawGlyph(c, s, at) }, "data-p", t.tell)
}

// nameRows labels rows of one height down the side of a panel.
func nameRows(p *plot.Plot, labels []string) {
	p.Y.Min, p.Y.Max = 0, float64(len(labels))
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Tick.Length, p.Y.Padding = 0, 0, 0, 0
	var names []plot.Tick
	for i, label := range labels {
		names = append(names, plot.Tick{Value: float64(len(labels)-i) - 0.5, Label: label})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(names)
}

// stages are the parts of the time of a cell.
var stages = []struct {
	label, quantity string
	color           color.RGBA
}{
	{"privatise", "privatize_seconds", palette[0]}, {"train", "train_seconds", palette[4]},
	{"measure privacy", "measure_seconds", palette[7]}, {"CS", "cs_seconds", palette[5]},
}

// stageFigures draws where the time of a cell goes, stacked, one bar per
// mechanism: the mean over its cells, in which a stage that a cell does not
// have counts as no time.
func stageFigures(v *view) ([]Figure, error) {
	var out []Figure
	for _, t := range v.tasks {
		shown := results.Where(v.Cells, func(c results.Cell) bool {
			return c.Panel == "" && c.Status == results.StatusOK && c.Model == t.Model &&
				(c.Setting == t.Setting || c.IsBaseline())
		})
		var labels []string
		var seconds [][]float64 // by mechanism and stage
		add := func(label string, cells []results.Cell) {
			row, total := make([]float64, len(stages)), 0.0
			for i, st := range stages {
				for _, x := range (results.Cells{Cells: cells}).Values(st.quantity) {
					row[i] += x / float64(len(cells))
				}
				total += row[i]
			}
			if total > 0 {
				labels, seconds = append(labels, label), append(seconds, row)
			}
		}
		add("no privatisation", results.Where(shown, func(c results.Cell) bool { return c.IsBaseline() }))
		for _, id := range v.curves {
			add(v.labels[id], results.Where(shown, func(c results.Cell) bool { return c.Instance() == id }))
		}
		if len(labels) == 0 {
			continue
		}
		out = append(out, stacked(v.stageName(t), title("Time of a cell by stage", results.Space{}, t, shown), labels,
			seconds, v.warnings(shown)))
	}
	return reason(out, "no cell has the seconds of a stage")
}

func (v *view) stageName(t results.Task) string {
	if len(v.tasks) > 1 {
		return "stages" + dash(slug(t.Model)) + dash(slug(t.Setting))
	}
	return "stages"
}

func stacked(name, title string, labels []string, seconds [][]float64, notes []string) Figure {
	l := layout{title: title, notes: notes, columns: 1}
	p := newPlot("seconds per cell and repetition, mean", "")
	axis := newRange(Axis{})
	axis.add(0)
	described := title + "."
	for i, row := range seconds {
		total := 0.0
		described += " " + labels[i] + ":"
		for k, s := range row {
			total += s
			described += fmt.Sprintf(" %s %s s", stages[k].label, short(s))
		}
		described += "."
		axis.add(total)
	}
	axis.apply(&p.X, 0)
	p.X.Max *= 1.03
	nameRows(p, labels)
	var below *plotter.BarChart
	for k, st := range stages {
		bars := &plotter.BarChart{Width: 6, Color: st.color, Horizontal: true, XMin: 0.5}
		for i := range seconds { // rows count from below
			bars.Values = append(bars.Values, seconds[len(seconds)-1-i][k])
		}
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		l.legend = append(l.legend, legendEntry{label: st.label, style: Style{Look: Look{Color: st.color}}, bar: true})
	}
	l.add("", p)
	l.panelHeight = vg.Length(len(labels))*10.5 + 26
	f := l.figure()
	f.Name, f.Description = name, described
	return f
}
