package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// blues is a sequential scale from light to dark (after ColorBrewer's Blues,
// whose single hue survives colour blindness and grey paper).
type blues int

// Colors returns the steps of the scale.
func (n blues) Colors() []color.Color {
	base := []color.RGBA{
		{0xc6, 0xdb, 0xef, 0xff}, {0x9e, 0xca, 0xe1, 0xff}, {0x6b, 0xae, 0xd6, 0xff},
		{0x42, 0x92, 0xc6, 0xff}, {0x21, 0x71, 0xb5, 0xff}, {0x08, 0x45, 0x94, 0xff},
	}
	out := make([]color.Color, n)
	for k := range out {
		x := 0.6 * float64(len(base)-1)
		if n > 1 {
			x = float64(k) / float64(n-1) * float64(len(base)-1)
		}
		i := min(int(x), len(base)-2)
		f := x - float64(i)
		mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-f) + float64(b)*f)) }
		a, b := base[i], base[i+1]
		out[k] = color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
	}
	return out
}

// sequential is the i-th of n steps.
func sequential(i, n int) color.RGBA { return blues(n).Colors()[i].(color.RGBA) }

// compositeMaps draws the composite as a table of coloured cells: a row per
// mechanism, a column per data set and ε, one block per α.
func compositeMaps(v *view) ([]Figure, error) {
	var out []Figure
	for _, sp := range v.spaces {
		for _, t := range v.tasks {
			shown := v.of(sp, t)
			var blocks []Grid
			for _, c := range results.Where(results.MeasuredColumns(shown), composite) {
				if g := v.grid(strings.TrimPrefix(c.Title, "PUC "), shown, c.Name); len(g.Rows) > 0 {
					blocks = append(blocks, g)
				}
			}
			f, err := HeatMap(v.fileName("puc-map", sp, t), title("PUC", sp, t, shown), "privacy parameter ε", blocks,
				append([]string{"Means over repetitions; darker is higher, within each block."}, v.warnings(shown)...)...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return reason(out, noComposite)
}

// grid is a quantity by mechanism (rows) and data set and ε (columns).
func (v *view) grid(title string, shown []results.Cell, quantity string) Grid {
	g := Grid{Title: title}
	values := map[results.Instance][]float64{}
	for _, d := range datasets(shown) {
		own := results.Where(shown, func(c results.Cell) bool { return c.Dataset == d })
		epsilons := results.Epsilons(own)
		if len(epsilons) == 0 {
			continue
		}
		g.Groups = append(g.Groups, Group{datasetTitle(d, shown), len(epsilons)})
		byLabel := map[string]Curve{}
		for _, c := range v.curvesOf(own, epsilon, quantity) {
			byLabel[c.Label] = c
		}
		for _, e := range epsilons {
			g.Columns = append(g.Columns, short(e))
			for _, id := range v.curves {
				at := slices.IndexFunc(byLabel[v.labels[id]].Points, func(p Point) bool { return p.X == e })
				value := math.NaN()
				if at >= 0 {
					value = byLabel[v.labels[id]].Points[at].Y
				}
				values[id] = append(values[id], value)
			}
		}
	}
	for _, id := range v.curves {
		if slices.ContainsFunc(values[id], finite) {
			g.Rows, g.Values = append(g.Rows, v.labels[id]), append(g.Values, values[id])
		}
	}
	return g
}

// Grid is one block of a heat map, a plotter.GridXYZ with rows from above.
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

// The methods of plotter.GridXYZ.
func (g Grid) Dims() (c, r int)   { return len(g.Columns), len(g.Rows) }
func (g Grid) X(c int) float64    { return float64(c) + 0.5 }
func (g Grid) Y(r int) float64    { return float64(r) + 0.5 }
func (g Grid) Z(c, r int) float64 { return g.Values[len(g.Rows)-1-r][c] }

// heatRow is the least height of a row of a heat map.
const heatRow = 11.5 * vg.Length(1)

// HeatMap draws blocks of numbers in coloured cells; NaN is left blank. across
// is the label of the columns.
func HeatMap(name, title, across string, blocks []Grid, notes ...string) (Figure, error) {
	l := layout{title: title, notes: notes, columns: 1, head: tickSize}
	var described []string
	for _, g := range blocks {
		if !slices.ContainsFunc(g.Values, func(row []float64) bool { return slices.ContainsFunc(row, finite) }) {
			continue
		}
		p := newPlot("", g.Title)
		nameRows(p, g.Rows)
		p.X.Min, p.X.Max = 0, float64(len(g.Columns))
		var xs []plot.Tick
		for i, c := range g.Columns {
			xs = append(xs, plot.Tick{Value: float64(i) + 0.5, Label: c})
		}
		p.X.Tick.Marker = plot.ConstantTicks(xs)
		p.X.LineStyle.Width, p.X.Tick.LineStyle.Width, p.X.Tick.Length, p.X.Padding = 0, 0, 0, 1
		// Ticks must not touch where a column is narrow.
		column := (ColumnWidth - 70) / vg.Length(len(g.Columns))
		for _, c := range g.Columns {
			for p.X.Tick.Label.Font.Size > 4 && p.X.Tick.Label.Width(c) > column-1 {
				p.X.Tick.Label.Font.Size -= 0.25
			}
		}
		p.Add(cells{g, column})
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

// cells draws a grid with its numbers and the names of its groups.
type cells struct {
	Grid
	column vg.Length // width of a column at the default width
}

func (h cells) Plot(c draw.Canvas, p *plot.Plot) {
	const steps = 64
	heat := plotter.NewHeatMap(h.Grid, blues(steps))
	flat := heat.Max <= heat.Min
	if flat {
		heat.Max = heat.Min + 1
	}
	heat.Plot(c, p)
	size := min(tickSize, h.column*0.42)
	labels := &plotter.Labels{}
	for r := range h.Rows {
		for k := range h.Columns {
			v := h.Z(k, r)
			if !finite(v) {
				continue
			}
			style := textStyle(size, false)
			style.XAlign, style.YAlign = draw.XCenter, text.YCenter
			if (v-heat.Min)/(heat.Max-heat.Min) > 0.55 { // white on the dark half
				style.Color = color.RGBA{0xfe, 0xfe, 0xfe, 0xff}
			}
			labels.XYs = append(labels.XYs, plotter.XY{X: h.X(k), Y: h.Y(r)})
			labels.Labels = append(labels.Labels, fmt.Sprintf("%.1f", v))
			labels.TextStyle = append(labels.TextStyle, style)
		}
	}
	labels.Plot(c, p)
	tx, _ := p.Transforms(&c)
	at := 0
	for k, g := range h.Groups {
		x0, x1 := tx(float64(at)), tx(float64(at+g.Columns))
		if k > 0 {
			c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 0.8}, x0, c.Min.Y, x0, c.Max.Y)
		}
		heading := textStyle(tickSize, false)
		heading.XAlign, heading.YAlign = draw.XCenter, text.YBottom
		for heading.Font.Size > 5.5 && heading.Width(g.Title) > x1-x0-2 {
			heading.Font.Size -= 0.25
		}
		c.FillText(heading, vg.Point{X: (x0 + x1) / 2, Y: c.Max.Y + 1}, shorten(heading, g.Title, x1-x0))
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

func (g Grid) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", g.Title)
	for i, row := range g.Values {
		fmt.Fprintf(&b, " %s", g.Rows[i])
		at := 0
		for _, group := range g.Groups {
			for j := at; j < at+group.Columns; j++ {
				if finite(row[j]) {
					fmt.Fprintf(&b, ", %s %s: %.1f", group.Title, g.Columns[j], row[j])
				}
			}
			at += group.Columns
		}
		b.WriteString(".")
	}
	return b.String()
}
