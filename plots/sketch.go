package plots

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

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
	page.Notes = append([]string{noteOfBars(v.private)}, v.notes(v.private)...)
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
				page.Sketches = append(page.Sketches, Sketch{
					Title: q.Title,
					With:  f.with,
					SVG:   q.sketch(),
				})
			}
		}
	}
	page.Legend = v.keys(drawn)
	return page
}

// keys explain the mechanisms whose labels were drawn.
func (v *view) keys(drawn map[string]bool) (keys []Key) {
	many := list.Count(v.curves, func(id results.Place) bool {
		return !constant(id)
	}) > maxCurves
	for _, id := range v.curves {
		label := v.MarkedName(id)
		if !drawn[label] {
			continue
		}
		keys = append(keys, Key{
			Label:  label,
			Swatch: v.styles[id].Swatch(),
			Grey:   many && !v.named[id] && !constant(id),
			Own:    id.Own(),
		})
	}
	return keys
}

// sketch draws a panel of a figure alone, as an svg element.
func (p Panel) sketch() string {
	drawn, _ := p.plot() // it was drawn before
	f := Figure{
		Title:  p.Y.Label + " against " + p.X.Label,
		width:  sketchWidth,
		height: sketchHeight,
		draw:   func(c draw.Canvas) { drawn.Draw(draw.Crop(c, 0, -6, 0, -4)) },
	}
	return f.svg("")
}
