package plots

import (
	"mldpbench/results"
)

// column is a metric of the registry that a figure is about.
func column(name string) results.Column {
	c, err := results.FindColumn(name)
	if err != nil {
		panic("plots: " + err.Error()) // a name in this package is wrong; every test draws
	}
	return c
}

// metricFigures draws each metric without a separate figure against ε: one
// figure per metric and space (and classifier, where it depends on one).
func metricFigures(s *study) ([]Figure, error) {
	var out []Figure
	for _, c := range results.Measured(results.Where(s.records,
		func(r results.Record) bool { return !r.IsBaseline() })) {
		if c.Derived || c.Name == "accuracy" {
			continue
		}
		tasks := []results.Task{{}}
		if c.OfModel {
			tasks = s.tasks
		}
		for _, sp := range s.spaces {
			for _, t := range tasks {
				shown := results.Where(s.in(sp), func(r results.Record) bool {
					return t == (results.Task{}) || r.Model == t.Model && r.Setting == t.Setting
				})
				var panels []Panel
				for _, d := range datasets(shown) {
					rows := results.Where(shown, func(r results.Record) bool { return r.Dataset == d })
					p := Panel{Title: datasetTitle(d, shown), X: epsilonAxis(results.Epsilons(rows)),
						Y: Axis{Label: c.Heading()}, Curves: s.curvesOf(rows, c.Get)}
					if c.Unit == "%" {
						p.Y.Bound = percent
					}
					panels = append(panels, p)
				}
				f, err := Curves(s.name("metric-"+slug(c.Name), sp, t),
					s.title(upperFirst(c.Heading())+" against ε", sp, t, shown), panels, s.notes(shown, "Bars:")...)
				if err == nil {
					out = append(out, f)
				}
			}
		}
	}
	return out, reason(out, "no metric other than accuracy and composites was measured")
}
