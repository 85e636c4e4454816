package plots

import (
	"cmp"
	"slices"

	"mldpbench/results"
)

// frontierFigures draws accuracy against the adversary's error: mechanisms are
// compared at equal measured privacy instead of equal ε, whose meaning differs
// between mechanisms. The step line joins the best accuracies among the
// settings with a guarantee between any two words.
func frontierFigures(s *study) ([]Figure, error) {
	accuracy := column("accuracy").Get
	var out []Figure
	for _, sp := range s.spaces {
		for _, t := range s.tasks {
			shown := results.Where(s.in(sp), func(r results.Record) bool {
				return r.Model == t.Model && r.Setting == t.Setting
			})
			shown, full := results.FullErrors(shown)
			inference, about := adversary(shown)
			if full {
				about += ", all words being candidates"
			}
			var panels []Panel
			for _, d := range datasets(shown) {
				rows := results.Where(shown, func(r results.Record) bool { return r.Dataset == d })
				p := Panel{
					Title: datasetTitle(d, shown),
					X:     Axis{Label: "adversary’s error E_M", Bound: &[2]float64{0, 1}},
					Y:     Axis{Label: "accuracy in %", Bound: percent},

					InPlace: true,
				}
				errors := s.curvesOf(rows, inference)
				for _, c := range s.curvesOf(rows, accuracy) {
					c.Points = against(c, errors)
					if len(c.Points) > 0 {
						p.Curves = append(p.Curves, c)
					}
				}
				if front := pareto(p.Curves); len(front) > 0 {
					p.Curves = append([]Curve{{Label: "best with a guarantee",
						Style: Style{Color: Faint, Marker: -1, Step: true}, Points: front}}, p.Curves...)
				}
				if level, ok := s.baseline(sp, t, d, rows); ok {
					p.Levels = append(p.Levels, level)
				}
				panels = append(panels, p)
			}
			about += ". Up and right is better. Each line runs over ε."
			if results.ScopeNote(shown) != "" {
				about += " The step line joins guarantees between any two words only."
			}
			notes := append([]string{about}, s.notes(shown, "Bars (accuracy) and band:")...)
			f, err := Curves(s.name("frontier", sp, t),
				s.title("Trade-off: accuracy against the adversary’s error", sp, t, shown), panels, notes...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return out, reason(out, "no record has both an accuracy and an inference error (e_m_map or e_m_posterior)")
}

// adversary returns the error of the strongest adversary that was measured, and
// who that is.
func adversary(records []results.Record) (metric, string) {
	c := column("e_m_map")
	if len((results.Cells{Records: records}).Values(c.Get)) > 0 {
		return c.Get, "E_M is the error of the MAP adversary"
	}
	return column("e_m_posterior").Get, "E_M is the error of the posterior adversary"
}

// against moves the points of c from ε to the mean error at that ε.
func against(c Curve, errors []Curve) []Point {
	i := slices.IndexFunc(errors, func(e Curve) bool { return e.Label == c.Label })
	if i < 0 {
		return nil
	}
	var out []Point
	for _, p := range c.Points {
		for _, e := range errors[i].Points {
			if e.X == p.X {
				p.X = e.Y
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// pareto returns the points of curves with a full guarantee that no other such
// point beats in both coordinates, by descending error.
func pareto(curves []Curve) []Point {
	var all []Point
	for _, c := range curves {
		if !c.Style.Hollow && !c.Style.Scoped {
			for _, p := range c.Points {
				all = append(all, Exactly(p.X, p.Y))
			}
		}
	}
	slices.SortFunc(all, func(a, b Point) int { return cmp.Or(cmp.Compare(b.X, a.X), cmp.Compare(b.Y, a.Y)) })
	var front []Point
	for _, p := range all {
		if len(front) == 0 || p.Y > front[len(front)-1].Y {
			front = append(front, p)
		}
	}
	return front
}
