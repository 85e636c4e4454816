package plots

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// Page is the interactive figure of a page: one panel for each data set, space,
// task and choice of the horizontal axis.
type Page struct {
	Axes     []Choice // the first one answers the study
	Sketches []Sketch
	Legend   []Key
	Notes    []string
}

// Choice is a quantity that an axis can show.
type Choice struct{ Name, Title string }

// Sketch is a panel of a page.
type Sketch struct {
	Axis    string // name of its Choice
	Dataset string // printed
	Scene   string // space and task, printed
	SVG     string // an svg element; curves are groups of class series, points of class p
}

// Key explains a mechanism.
type Key struct {
	Name   string // attribute data-s of its curves
	Label  string // with the marks of its guarantee
	Swatch string // an svg element
	Grey   bool   // its curves are grey until chosen
}

// The size of a panel of a page, in points.
const (
	sketchWidth  = 250 * vg.Length(1)
	sketchHeight = 172 * vg.Length(1)
)

// Sketches draws the interactive figure: accuracy, or the first measured
// quantity, against the adversary's error, each attacker's success and ε.
func Sketches(p *results.Prepared) Page {
	v := newView(p)
	var page Page
	y := "accuracy"
	scenes := v.scenes(y)
	if len(scenes) == 0 {
		measured := results.MeasuredColumns(v.private)
		if len(measured) == 0 {
			return page
		}
		y = measured[0].Name
		scenes = v.scenes(y)
	}
	choices := []Choice{{results.EM, "adversary’s error E_M"}}
	for _, a := range tables.Leading(v.private) {
		choices = append(choices, Choice{a.Name, a.Heading()})
	}
	choices = append(choices, Choice{epsilon, "privacy parameter ε"})
	drawn, stepped := map[string]bool{}, false
	for _, choice := range choices {
		panels := list.Map(scenes, func(s results.Scene) Panel { return v.panel(s, choice.Name, y) })
		v.limit(panels)
		some := false
		for i, s := range scenes {
			q := panels[i]
			q.Title, q.live = "", true
			if choice.Name != epsilon {
				steps := step(q.Curves)
				q.Curves, stepped = append(steps, q.Curves...), stepped || len(steps) > 0
			}
			svg, ok := q.sketch()
			if !ok || choice.Name == y {
				continue
			}
			some = true
			for _, c := range q.Curves {
				drawn[c.Label] = true
			}
			page.Sketches = append(page.Sketches, Sketch{choice.Name, panels[i].Title, s.With(), svg})
		}
		if some {
			page.Axes = append(page.Axes, choice)
		}
	}
	grey := list.Count(v.curves, func(id results.Instance) bool {
		return drawn[v.labels[id]] && !constant(id.Mechanism)
	})
	for _, id := range v.curves {
		if drawn[v.labels[id]] {
			page.Legend = append(page.Legend, Key{v.Labels[id], v.labels[id], v.styles[id].Swatch(),
				grey > maxCurves && !v.named[id] && !constant(id.Mechanism)})
		}
	}
	page.Notes = v.notes(v.private)
	if stepped {
		page.Notes = append(page.Notes, "The grey steps join the best with a guarantee between any two words.")
	}
	return page
}

// sketch draws the panel alone.
func (p Panel) sketch() (svg string, ok bool) {
	drawn, ok := p.plot()
	if !ok {
		return "", false
	}
	f := Figure{Title: p.Y.Label + " against " + p.X.Label, width: sketchWidth, height: sketchHeight, scale: 1,
		draw: func(c draw.Canvas) { drawn.Draw(draw.Crop(c, 0, -6, 0, -4)) }}
	return f.svg(false, ""), true
}
