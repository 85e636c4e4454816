package plots

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/results"
)

// farthestRatio is the position of bounds beyond the axis.
const farthestRatio = 100

// Audit draws the audited lower bound on ε over the claimed ε: a claim is
// refuted where the bound passes 1. To the left of it nothing is proved.
func Audit(rows []results.AuditRow, title string, notes ...string) (Figure, error) {
	if len(rows) == 0 {
		return Figure{}, fmt.Errorf("audit: %w", errNoData)
	}
	var curves []results.Instance
	var values []float64
	broken := map[results.Instance]bool{}
	for _, r := range rows {
		id := r.Instance()
		if !slices.Contains(curves, id) {
			curves = append(curves, id)
		}
		broken[id] = broken[id] || !r.Promises
		if !slices.Contains(values, r.Epsilon) {
			values = append(values, r.Epsilon)
		}
	}
	slices.Sort(values)
	s := &study{curves: curves}
	s.sort()
	named := results.LabelInstances(curves)
	labels := make([]string, len(s.curves))
	for i, id := range s.curves {
		labels[i] = named[id]
		if broken[id] {
			labels[i] += dagger
		}
	}

	l := layout{title: title, notes: notes, columns: 1}
	colors := ramp(len(values))
	for i, e := range values {
		l.legend = append(l.legend, legendEntry{label: "ε = " + short(e), style: Style{Color: colors[i], NoLine: true}})
	}
	p := newPlot("audited lower bound on ε ÷ claimed ε", "")
	axis := newRange(Axis{Log: true, Min: 0.1, Max: 10})
	lines := make([][]auditDot, len(s.curves))
	var described []string
	for i, id := range s.curves {
		var texts []string
		for _, r := range rows {
			if r.Instance() != id || r.Epsilon <= 0 || math.IsNaN(r.Lower) {
				continue
			}
			ratio := r.Lower / r.Epsilon
			at := min(farthestRatio, max(0.01, ratio))
			axis.add(at)
			up := float64(len(values)-1)/2 - float64(slices.Index(values, r.Epsilon))
			lines[i] = append(lines[i], auditDot{at, up, Style{Color: colors[slices.Index(values, r.Epsilon)],
				Marker: marker(r.Violated), Hollow: !r.Promises}})
			verdict := "not refuted"
			if r.Violated {
				verdict = "violated"
			}
			texts = append(texts, fmt.Sprintf("at ε = %s bound %s, %s", short(r.Epsilon), short(r.Lower), verdict))
		}
		described = append(described, labels[i]+": "+strings.Join(texts, "; ")+".")
	}
	axis.apply(&p.X, 0.05)
	var ticks []plot.Tick
	for _, t := range []Tick{{0.01, "≤0.01"}, {0.1, "0.1"}, {1, "1"}, {10, "10"}, {farthestRatio, "≥100"}} {
		if t.Value >= p.X.Min && t.Value <= p.X.Max {
			ticks = append(ticks, plot.Tick{Value: t.Value, Label: t.Label})
		}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	nameRows(p, labels)
	p.Add(auditDots(lines))
	l.legend = append(l.legend,
		legendEntry{label: "claim refuted", style: Style{Color: Faint, Marker: marker(true), NoLine: true}},
		legendEntry{label: "not refuted", style: Style{Color: Faint, Marker: marker(false), NoLine: true}})
	l.notes = append(l.notes, "Right of 1 the claim is refuted; left of 1 nothing is proved.")
	if slices.ContainsFunc(rows, func(r results.AuditRow) bool { return !r.Promises }) {
		l.notes = append(l.notes, "† This variant guarantees nothing: it is tested against the ε it was run with.")
	}
	l.add("", p)
	l.panelHeight = vg.Length(len(labels))*(8+auditStep*vg.Length(len(values)-1)) + 28
	f := l.figure()
	f.Name = "audit"
	f.Description = title + ". " + strings.Join(described, " ")
	f.Caption = strings.Join(l.notes, " ")
	return f, nil
}

// marker is a star for a refuted claim and a circle otherwise.
func marker(violated bool) int {
	if violated {
		return 5
	}
	return 0
}

type auditDot struct {
	x     float64
	up    float64 // steps above the middle of the row: one step per ε
	style Style
}

const auditStep = 3.2 * vg.Length(1)

// auditDots holds the dots of each row, top down.
type auditDots [][]auditDot

func (a auditDots) Plot(c draw.Canvas, p *plot.Plot) {
	tx, ty := p.Transforms(&c)
	for i := range a {
		y := ty(float64(len(a)-i) - 0.5)
		c.StrokeLine2(draw.LineStyle{Color: Rule, Width: 0.5}, c.Min.X, y, c.Max.X, y)
	}
	c.StrokeLine2(levelStyle, tx(1), c.Min.Y, tx(1), c.Max.Y)
	for i, dots := range a {
		y := ty(float64(len(a)-i) - 0.5)
		for _, d := range dots {
			drawMarker(c, d.style, vg.Point{X: tx(d.x), Y: y + vg.Length(d.up)*auditStep})
		}
	}
}

// nameRows labels rows of one height down the side of a panel.
func nameRows(p *plot.Plot, labels []string) {
	nameRowsOf(p, labels, slices.Repeat([]float64{1}, len(labels)))
}

// nameRowsOf labels rows of these heights.
func nameRowsOf(p *plot.Plot, labels []string, heights []float64) {
	total := 0.0
	for _, h := range heights {
		total += h
	}
	p.Y.Min, p.Y.Max = 0, total
	p.Y.LineStyle.Width, p.Y.Tick.LineStyle.Width, p.Y.Tick.Length, p.Y.Padding = 0, 0, 0, 0
	var names []plot.Tick
	for i, label := range labels {
		names = append(names, plot.Tick{Value: total - heights[i]/2, Label: label})
		total -= heights[i]
	}
	p.Y.Tick.Marker = plot.ConstantTicks(names)
}
