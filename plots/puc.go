package plots

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// composites are the columns that combine utility and privacy.
func composites() []results.Column {
	return slices.DeleteFunc(slices.Clone(results.Registry()), func(c results.Column) bool { return !c.Derived })
}

// pucFigures draws the privacy-utility composite (Figure 3 of Meisenbacher et
// al. 2024): bars per mechanism and ε, one panel per data set.
func pucFigures(s *study) ([]Figure, error) {
	var out []Figure
	for _, c := range composites() {
		for _, sp := range s.spaces {
			for _, t := range s.tasks {
				shown := results.Where(s.in(sp), func(r results.Record) bool {
					return r.Model == t.Model && r.Setting == t.Setting
				})
				f, err := s.bars(s.name(slug(c.Name), sp, t), s.title(c.Title, sp, t, shown), "PUC", shown, c.Get)
				if err == nil {
					out = append(out, f)
				}
			}
		}
	}
	return out, reason(out, "no record has a PUC (it needs accuracy, N_w, S_w, PP, CS and LOW)")
}

// widestLabel is the width at which names next to bars are broken into lines.
const widestLabel = 58 * vg.Length(1)

// bars draws a metric as horizontal bars: a row per mechanism, one bar per ε,
// one panel per data set.
func (s *study) bars(name, title, axis string, shown []results.Record, m metric) (Figure, error) {
	l := layout{title: title, notes: s.notes(shown, "Whiskers:")}
	values := results.Epsilons(shown)
	colors := ramp(len(values))
	for i, e := range values {
		l.legend = append(l.legend, legendEntry{label: "ε = " + short(e), style: Style{Color: colors[i]}, bar: true})
	}
	var curves []results.Instance // those with at least one bar
	var sets []string
	data := map[string]map[results.Instance][]Point{}
	for _, d := range datasets(shown) {
		data[d] = map[results.Instance][]Point{}
		for _, id := range s.curves {
			rows := results.Where(shown, func(r results.Record) bool { return r.Dataset == d && r.Instance() == id })
			for _, c := range s.curvesOf(rows, m) {
				data[d][id] = c.Points
			}
		}
		if len(data[d]) > 0 {
			sets = append(sets, d)
		}
	}
	for _, id := range s.curves {
		for _, d := range sets {
			if len(data[d][id]) > 0 {
				curves = append(curves, id)
				break
			}
		}
	}
	if len(sets) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", name, errNoData)
	}
	// Labels need room next to the first panel of a row.
	columns := min(3, len(sets))
	for _, id := range curves {
		if columns == 3 && textStyle(tickSize, false).Width(s.labels[id]) > widestLabel {
			columns = 2
		}
	}
	// A mechanism has space only for the ε at which it was run.
	present := make([][]float64, len(curves))
	heights := make([]float64, len(curves))
	for k, id := range curves {
		present[k] = slices.DeleteFunc(slices.Clone(values), func(e float64) bool {
			return !slices.ContainsFunc(sets, func(d string) bool {
				return slices.ContainsFunc(data[d][id], func(q Point) bool { return q.X == e })
			})
		})
		lines := vg.Length(strings.Count(strings.Join(wrap(s.labels[id], tickSize, false, widestLabel), "\n"),
			"\n") + 1)
		heights[k] = max(float64(len(present[k]))+barGap, float64(lines*tickSize*1.1/barThick))
	}
	var described []string
	for i, d := range sets {
		p := newPlot(axis, "")
		r := newRange(Axis{Min: 0, Max: 1})
		text := d + ":"
		for _, id := range curves {
			for _, q := range data[d][id] {
				r.add(q.Y, q.High)
				text += fmt.Sprintf(" %s at ε = %s: %s;", s.labels[id], short(q.X), short(q.Y))
			}
		}
		described = append(described, strings.TrimSuffix(text, ";")+".")
		r.apply(&p.X, 0)
		p.X.Max *= 1.04
		p.X.Tick.Marker = plot.ConstantTicks(plotTicks(niceTicks(p.X.Min, p.X.Max, false), 3))
		labels := make([]string, len(curves))
		for k, id := range curves {
			if i%columns == 0 { // the other panels are next to it
				labels[k] = strings.Join(wrap(s.labels[id], tickSize, false, widestLabel), "\n")
			}
		}
		nameRowsOf(p, labels, heights)
		var groups [][]Point
		var hollow []bool
		var names []string
		for _, id := range curves {
			names = append(names, s.labels[id])
			groups = append(groups, data[d][id])
			hollow = append(hollow, s.styles[id].Hollow)
		}
		p.Add(barGroups{groups: groups, hollow: hollow, values: values, present: present, heights: heights,
			panel: datasetTitle(d, shown), labels: names})
		l.add(datasetTitle(d, shown), p)
	}
	l.columns = columns
	l.panelHeight = 24
	for _, h := range heights {
		l.panelHeight += vg.Length(h) * barThick
	}
	f := l.figure()
	f.Name = name
	f.Description = title + ". " + strings.Join(described, " ")
	f.Caption = strings.Join(l.notes, " ")
	return f, nil
}

func plotTicks(ticks []Tick, most int) []plot.Tick {
	var out []plot.Tick
	stride := (len(ticks) + most - 1) / most
	for i, t := range ticks {
		if i%stride == 0 {
			out = append(out, plot.Tick{Value: t.Value, Label: t.Label})
		}
	}
	return out
}

// barGroups draws one group of bars per mechanism, top down, one bar per ε.
type barGroups struct {
	groups  [][]Point // X is ε
	hollow  []bool
	values  []float64
	panel   string
	labels  []string    // of mechanisms
	heights []float64   // of mechanisms, in bars
	present [][]float64 // by mechanism, the ε with a position
}

// barThick is the height of a bar with the gap below it, barGap that between
// two mechanisms, in bars.
const (
	barThick = 4.5 * vg.Length(1)
	barGap   = 0.9
)

func (b barGroups) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.5}, tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
	}
	colors := ramp(len(b.values))
	thick := ty(1) - ty(0)
	above := p.Y.Max
	for g, points := range b.groups {
		height := b.heights[g]
		middle := ty(above - height/2)
		above -= height
		top := middle + vg.Length(len(b.present[g]))*thick/2
		for _, q := range points {
			k := slices.Index(b.values, q.X)
			y1 := top - vg.Length(slices.Index(b.present[g], q.X))*thick
			y0 := y1 - thick + 0.6
			left, right := tx(max(0, p.X.Min)), tx(q.Y)
			box := rectangle(left, y0, right, y1)
			d := datum{b.panel, b.labels[g], "ε = " + short(q.X), q.Y, q.Low, q.High, short}
			d.point(c, func() {
				if b.hollow[g] {
					hollowBox(c, colors[k], box)
				} else {
					c.FillPolygon(colors[k], box)
				}
			})
			if finite(q.Low) && q.High > q.Low {
				m := (y0 + y1) / 2
				whisker := draw.LineStyle{Color: Ink, Width: 0.6}
				c.StrokeLine2(whisker, tx(q.Low), m, tx(q.High), m)
				c.StrokeLine2(whisker, tx(q.Low), m-1, tx(q.Low), m+1)
				c.StrokeLine2(whisker, tx(q.High), m-1, tx(q.High), m+1)
			}
		}
	}
	c.StrokeLine2(draw.LineStyle{Color: Ink, Width: 0.6}, c.Min.X, c.Min.Y, c.Min.X, c.Max.Y)
}
