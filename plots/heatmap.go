package plots

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// pucMaps draws the composite as a table of coloured cells: a row per
// mechanism, a column per data set and ε, one block per α.
func pucMaps(s *study) ([]Figure, error) {
	var out []Figure
	for _, sp := range s.spaces {
		for _, t := range s.tasks {
			shown := results.Where(s.in(sp), func(r results.Record) bool {
				return r.Model == t.Model && r.Setting == t.Setting
			})
			var blocks []Grid
			for _, c := range composites() {
				if g, ok := s.grid(strings.TrimPrefix(c.Title, "PUC "), shown, c.Get); ok {
					blocks = append(blocks, g)
				}
			}
			notes := append([]string{"Means over repetitions; darker is higher, within each block."},
				s.warnings(shown)...)
			f, err := HeatMap(s.name("puc-map", sp, t), s.title("PUC", sp, t, shown), "privacy parameter ε", blocks,
				notes...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return out, reason(out, "no record has a PUC (it needs accuracy, N_w, S_w, PP, CS and LOW)")
}

// grid is a metric by mechanism (rows) and data set and ε (columns).
func (s *study) grid(title string, shown []results.Record, m metric) (Grid, bool) {
	g := Grid{Title: title}
	type column struct {
		dataset string
		epsilon float64
	}
	var columns []column
	for _, d := range datasets(shown) {
		at := results.Epsilons(results.Where(shown, func(r results.Record) bool { return r.Dataset == d }))
		for _, e := range at {
			columns = append(columns, column{d, e})
			g.Columns = append(g.Columns, short(e))
		}
		if len(at) > 0 {
			g.Groups = append(g.Groups, Group{datasetTitle(d, shown), len(at)})
		}
	}
	some := false
	for _, id := range s.curves {
		row := make([]float64, len(columns))
		any := false
		for i, c := range columns {
			row[i] = math.NaN()
			values := results.ByRepetition(results.Where(shown, func(r results.Record) bool {
				return r.Instance() == id && r.Dataset == c.dataset && float64(r.Epsilon) == c.epsilon
			}), m)
			if len(values) > 0 {
				row[i] = meanPoint(0, values).Y
				any = true
			}
		}
		if any {
			g.Rows = append(g.Rows, s.labels[id])
			g.Values = append(g.Values, row)
			some = true
		}
	}
	return g, some
}

// Grid is one block of a heat map.
type Grid struct {
	Title   string
	Rows    []string
	Columns []string // written below the block
	Groups  []Group  // adjacent columns that belong together, left to right
	Values  [][]float64
}

// Group names some adjacent columns.
type Group struct {
	Title   string
	Columns int
}

// heatRow is the least height of a row of a heat map.
const heatRow = 11.5 * vg.Length(1)

// HeatMap draws blocks of numbers in coloured cells; NaN is left blank. across
// is the label of the columns.
func HeatMap(name, title, across string, blocks []Grid, notes ...string) (Figure, error) {
	l := layout{title: title, notes: notes, columns: 1, head: tickSize}
	var described []string
	for _, g := range blocks {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, row := range g.Values {
			for _, v := range row {
				if finite(v) {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
		}
		if lo > hi {
			continue
		}
		p := newPlot("", g.Title)
		p.X.Min, p.X.Max = 0, float64(len(g.Columns))
		p.Y.Min, p.Y.Max = 0, float64(len(g.Rows))
		var xs, ys []plot.Tick
		for i, c := range g.Columns {
			xs = append(xs, plot.Tick{Value: float64(i) + 0.5, Label: c})
		}
		for i, r := range g.Rows {
			ys = append(ys, plot.Tick{Value: float64(len(g.Rows)-i) - 0.5, Label: r})
		}
		p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(xs), plot.ConstantTicks(ys)
		for _, a := range []*plot.Axis{&p.X, &p.Y} {
			a.LineStyle.Width, a.Tick.LineStyle.Width, a.Tick.Length, a.Padding = 0, 0, 0, 1
		}
		p.Add(heatCells{g, lo, hi})
		l.add("", p)
		// Includes space for the name of the block and for the axis below.
		l.panelHeight = max(l.panelHeight, vg.Length(len(g.Rows))*heatRow+34,
			textStyle(labelSize, false).Width(g.Title)+34)
		described = append(described, g.describe())
	}
	if len(l.panels) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", name, errNoData)
	}
	l.panels[len(l.panels)-1].X.Label.Text = across
	f := l.figure()
	f.Name = name
	f.Description = title + ". " + strings.Join(described, " ")
	f.Caption = strings.Join(notes, " ")
	return f, nil
}

type heatCells struct {
	Grid
	lo, hi float64
}

func (h heatCells) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	width := tx(1) - tx(0)
	style := textStyle(min(tickSize, width*0.42), false)
	style.XAlign, style.YAlign = draw.XCenter, text.YCenter
	for i, row := range h.Values {
		y1 := ty(float64(len(h.Values) - i))
		y0 := ty(float64(len(h.Values) - i - 1))
		for j, v := range row {
			x0, x1 := tx(float64(j)), tx(float64(j+1))
			if !finite(v) {
				c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.8}, x0+width/2-2, (y0+y1)/2, x0+width/2+2, (y0+y1)/2)
				continue
			}
			x := 0.5
			if h.hi > h.lo {
				x = (v - h.lo) / (h.hi - h.lo)
			}
			fill := sequential(x)
			datum{h.groupOf(j), h.Rows[i], h.Columns[j], v, noBound, noBound, short}.point(c, func() {
				c.FillPolygon(fill, rectangle(x0+0.4, y0+0.4, x1-0.4, y1-0.4))
				style.Color = readableOn(fill)
				c.FillText(style, vg.Point{X: (x0 + x1) / 2, Y: (y0 + y1) / 2}, fmt.Sprintf("%.1f", v))
			})
		}
	}
	at := 0
	heading := textStyle(tickSize, false)
	heading.XAlign, heading.YAlign = draw.XCenter, text.YBottom
	for k, g := range h.Groups {
		x0, x1 := tx(float64(at)), tx(float64(at+g.Columns))
		if k > 0 {
			c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 0.8}, x0, c.Min.Y, x0, c.Max.Y)
		}
		fitted := heading
		for fitted.Font.Size > 5.5 && fitted.Width(g.Title) > x1-x0-2 {
			fitted.Font.Size -= 0.25
		}
		c.FillText(fitted, vg.Point{X: (x0 + x1) / 2, Y: c.Max.Y + 1}, shorten(fitted, g.Title, x1-x0))
		at += g.Columns
	}
}

// shorten cuts a line that does not fit.
func shorten(style text.Style, s string, width vg.Length) string {
	if style.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	for len(runes) > 1 && style.Width(string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

// readableOn returns black or white, whichever contrasts more (WCAG luminance).
func readableOn(c color.RGBA) color.RGBA {
	channel := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	if l := 0.2126*channel(c.R) + 0.7152*channel(c.G) + 0.0722*channel(c.B); l < 0.18 {
		return color.RGBA{0xfe, 0xfe, 0xfe, 0xff}
	}
	return color.RGBA{0x10, 0x10, 0x10, 0xff}
}

// groupOf returns the name of a column's group.
func (g Grid) groupOf(column int) string {
	for _, group := range g.Groups {
		if column -= group.Columns; column < 0 {
			return group.Title
		}
	}
	return ""
}

func (g Grid) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", g.Title)
	for i, row := range g.Values {
		fmt.Fprintf(&b, " %s", g.Rows[i])
		at, k := 0, 0
		for j, v := range row {
			for k < len(g.Groups) && j >= at+g.Groups[k].Columns {
				at += g.Groups[k].Columns
				k++
			}
			if finite(v) && k < len(g.Groups) {
				fmt.Fprintf(&b, ", %s %s: %s", g.Groups[k].Title, g.Columns[j], short(math.Round(v*10)/10))
			}
		}
		b.WriteString(".")
	}
	return b.String()
}
