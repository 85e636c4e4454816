package plots

import (
	"math"
	"slices"

	"mldpbench/results"
	"mldpbench/results/published"
)

// publishedFigures draws published numbers against ours, one figure per metric,
// one panel per definition of it. A protocol is right where all points lie on
// the diagonal.
func publishedFigures(v *view) ([]Figure, error) {
	comparisons, err := published.Compare(v.Prepared, published.DefaultMargin)
	if err != nil {
		return nil, err
	}
	compared := func(k published.Comparison) bool { return k.AsPublished && k.Class != published.NotComparable }
	var metrics []published.Metric
	for _, k := range comparisons {
		if compared(k) && !slices.Contains(metrics, k.Metric) {
			metrics = append(metrics, k.Metric)
		}
	}
	var out []Figure
	for _, m := range metrics {
		c := results.MustColumn(m)
		var panels []Panel
		var definitions []published.Definition
		for _, k := range comparisons {
			if k.Metric == m && compared(k) && !slices.Contains(definitions, k.Definition) {
				definitions = append(definitions, k.Definition)
			}
		}
		for _, d := range definitions {
			p := Panel{
				Title: d.Title, InPlace: true,
				X: Axis{Label: "published, " + c.Heading()}, Y: Axis{Label: "ours"},
			}
			low, high := math.Inf(1), math.Inf(-1)
			for i, mechanism := range append([]string{results.BaselineMechanism}, published.Mechanisms...) {
				own := Curve{Label: results.MechanismTitle(mechanism), Name: results.MechanismTitle(mechanism),
					Style: Style{Look: LookOf(mechanism)}}
				if i == 0 {
					own.Style = Style{Look: Look{Color: Faint, Marker: 5}}
				}
				own.Style.NoLine = true
				for _, k := range comparisons {
					if k.Definition != d || !compared(k) || k.Place.Mechanism != mechanism {
						continue
					}
					own.Points = append(own.Points, Point{X: k.Published, Y: k.Ours, Low: k.Low, High: k.High})
					low, high = min(low, k.Published, k.Ours), max(high, k.Published, k.Ours)
				}
				if len(own.Points) > 0 {
					p.Curves = append(p.Curves, own)
				}
			}
			if low >= high {
				continue
			}
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = low, high, low, high
			p.Curves = append([]Curve{{Label: "equal", Style: Style{Look: Look{Color: Faint, Marker: -1, Dash: 1}},
				Points: []Point{Exactly(low, low), Exactly(high, high)}}}, p.Curves...)
			panels = append(panels, p)
		}
		f, err := Curves("published", "published-"+slug(m), "Published against ours, "+c.Heading(), panels,
			"Meisenbacher et al. 2024. Bars: 95% t interval of ours. One panel per protocol, with all its cells.")
		if err == nil {
			out = append(out, f)
		}
	}
	return reason(out, "no cell has a published counterpart")
}
