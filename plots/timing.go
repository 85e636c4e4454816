package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// throughputFigures draws words privatised per second: a row per mechanism, one
// bar per dimension. Values are medians over all cells, because other load
// sometimes slows a machine and nothing makes it too fast. See
// results.Cells.Throughput.
func throughputFigures(s *study) ([]Figure, error) {
	spaces := s.spaces
	var rows []barRow
	shown := results.Where(s.records, func(r results.Record) bool { return r.Mechanism != baseline })
	for _, id := range s.curves {
		row := barRow{label: s.labels[id], hollow: s.styles[id].Hollow, values: make([]float64, len(spaces))}
		for i, sp := range spaces {
			var speeds []float64
			for _, c := range results.GroupCells(results.TextRecords(results.Where(s.in(sp),
				func(r results.Record) bool { return r.Instance() == id }))) {
				speeds = append(speeds, c.Throughput()...)
			}
			row.values[i] = median(speeds)
		}
		if slices.ContainsFunc(row.values, func(v float64) bool { return v > 0 && finite(v) }) {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no record has words_per_second")
	}
	var parts []barPart
	colors := ramp(len(spaces))
	for i, sp := range spaces {
		parts = append(parts, barPart{fmt.Sprintf("%s, %d dimensions", sp.Embedding, sp.Dimension), colors[i]})
	}
	// A log axis cuts off bars at an arbitrary base, so it is used only where a
	// linear one would hide the slow ones.
	slowest, fastest := math.Inf(1), 0.0
	for _, r := range rows {
		for _, v := range r.values {
			if v > 0 {
				slowest, fastest = min(slowest, v), max(fastest, v)
			}
		}
	}
	logarithmic := fastest > 20*slowest
	axis := "words per second"
	if logarithmic {
		axis += " (log scale)"
	}
	f := rowBars{
		title: "Throughput of privatising" + generatedMark(shown), axis: axis,
		parts: parts, rows: rows, logarithmic: logarithmic,
		notes: append([]string{"Includes making a mechanism's tables per word, however many " +
			"repetitions shared them. Medians over cells; cells that run at once share the machine."},
			s.warnings(shown)...),
	}.figure()
	f.Name = "throughput"
	return []Figure{f}, nil
}

// stageFigures draws where the time of a cell goes, stacked, one bar per
// mechanism.
func stageFigures(s *study) ([]Figure, error) {
	stages := append(slices.Clone(results.Stages), results.Stage{Name: "other", Seconds: results.Record.OtherSeconds})
	parts := make([]barPart, len(stages))
	for i, c := range []color.RGBA{palette[0], palette[4], palette[6], palette[1], Rule} {
		parts[i] = barPart{stages[i].Name, c}
	}
	var out []Figure
	for _, t := range s.tasks {
		shown := results.Where(s.records, func(r results.Record) bool {
			return r.Model == t.Model && r.Status == results.StatusOK &&
				(r.Setting == t.Setting || r.Mechanism == baseline)
		})
		var rows []barRow
		add := func(label string, records []results.Record) {
			row := barRow{label: label, values: make([]float64, len(stages))}
			some := false
			for i, st := range stages {
				// A stage that a cell does not have counts as no time.
				for _, v := range known64(records, st.Seconds) {
					row.values[i] += v / float64(len(records))
				}
				some = some || row.values[i] > 0
			}
			if some {
				rows = append(rows, row)
			}
		}
		add("no privatisation", results.Where(shown, func(r results.Record) bool { return r.Mechanism == baseline }))
		for _, id := range s.curves {
			add(s.labels[id], results.Where(shown, func(r results.Record) bool { return r.Instance() == id }))
		}
		if len(rows) == 0 {
			continue
		}
		f := rowBars{
			title: "Time of a cell by stage, " + t.Model + generatedMark(shown),
			axis:  "seconds per cell and repetition, mean",
			parts: parts, rows: rows, stacked: true,
			notes: s.warnings(shown),
		}.figure()
		f.Name = "stages"
		if len(s.tasks) > 1 {
			f.Name += "-" + slug(t.Model) + "-" + slug(t.Setting)
		}
		out = append(out, f)
	}
	return out, reason(out, "no record has the seconds of a stage")
}

func known64(records []results.Record, m metric) []float64 {
	var v []float64
	for _, r := range records {
		if x := m(r); x.Known() {
			v = append(v, float64(x))
		}
	}
	return v
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

type barPart struct {
	label string
	color color.RGBA
}

type barRow struct {
	label  string
	values []float64 // one per part, NaN where missing
	hollow bool
}

// rowBars are horizontal bars in rows; the parts of a row are drawn below each
// other or stacked.
type rowBars struct {
	title, axis string
	parts       []barPart
	rows        []barRow
	logarithmic bool
	stacked     bool
	notes       []string
}

func (b rowBars) figure() Figure {
	l := layout{title: b.title, notes: b.notes, columns: 1}
	for _, part := range b.parts {
		l.legend = append(l.legend, legendEntry{label: part.label, style: Style{Color: part.color}, bar: true})
	}
	p := newPlot(b.axis, "")
	r := newRange(Axis{Log: b.logarithmic})
	if !b.logarithmic {
		r.add(0)
	}
	var described []string
	for _, row := range b.rows {
		total := 0.0
		var texts []string
		for i, v := range row.values {
			if !finite(v) {
				continue
			}
			total += v
			r.add(v)
			texts = append(texts, b.parts[i].label+" "+magnitude(v))
		}
		if b.stacked {
			r.add(total)
		}
		described = append(described, row.label+": "+strings.Join(texts, ", ")+".")
	}
	if b.logarithmic {
		r.min = math.Pow(10, math.Floor(math.Log10(r.min)-0.01)) // bars need some length to be visible
	}
	r.apply(&p.X, 0)
	if r.max >= 5000 && !b.logarithmic {
		var ticks []plot.Tick
		for _, t := range niceTicks(p.X.Min, p.X.Max, false) {
			ticks = append(ticks, plot.Tick{Value: t.Value, Label: magnitude(t.Value)})
		}
		p.X.Tick.Marker = plot.ConstantTicks(ticks)
	}
	if b.logarithmic {
		p.X.Max *= 1.1
	} else {
		p.X.Max *= 1.03
	}
	var labels []string
	for _, row := range b.rows {
		labels = append(labels, row.label)
	}
	nameRows(p, labels)
	p.Add(b)
	l.add("", p)
	thick := vg.Length(6)
	if !b.stacked {
		thick = 4.5 * vg.Length(len(b.parts))
	}
	l.panelHeight = vg.Length(len(b.rows))*(thick+4.5) + 26
	f := l.figure()
	f.Description = b.title + ", " + b.axis + ". " + strings.Join(described, " ")
	f.Caption = strings.Join(b.notes, " ")
	return f
}

// Plot draws the bars.
func (b rowBars) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.5}, tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
	}
	row := ty(1) - ty(0)
	for i, r := range b.rows {
		top := ty(float64(len(b.rows)-i)) - 2
		thick := row - 4
		if !b.stacked {
			thick /= vg.Length(len(b.parts))
		}
		from := 0.0
		if b.logarithmic {
			from = p.X.Min
		}
		for k, v := range r.values {
			if !finite(v) || v <= 0 {
				continue
			}
			y1, to := top, from+v
			if !b.stacked {
				y1, to = top-vg.Length(k)*thick, v
			}
			box := rectangle(tx(from), y1-thick+0.6, tx(to), y1)
			datum{"", r.label, b.parts[k].label, v, noBound, noBound, magnitude}.point(c, func() {
				if r.hollow {
					hollowBox(c, b.parts[k].color, box)
				} else {
					c.FillPolygon(b.parts[k].color, box)
				}
			})
			if b.stacked {
				from = to
			}
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 0.6}, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
}

// hollowBox is the bar of a variant that guarantees nothing.
func hollowBox(c draw.Canvas, clr color.Color, box []vg.Point) {
	c.FillPolygon(Paper, box)
	const inset = 0.35
	a, b := box[0].Add(vg.Point{X: inset, Y: inset}), box[2].Sub(vg.Point{X: inset, Y: inset})
	c.StrokeLines(draw.LineStyle{Color: clr, Width: 0.7}, append(rectangle(a.X, a.Y, b.X, b.Y), a))
}
