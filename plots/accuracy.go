package plots

import (
	"math"

	"mldpbench/results"
)

// percent bounds a percentage.
var percent = &[2]float64{0, 100}

// accuracyFigures draws test accuracy against ε (Figure 1 of Meisenbacher et
// al. 2024): one figure per space and classifier, one panel per data set.
func accuracyFigures(s *study) ([]Figure, error) {
	var out []Figure
	for _, sp := range s.spaces {
		for _, t := range s.tasks {
			shown := results.Where(s.in(sp), func(r results.Record) bool {
				return r.Model == t.Model && r.Setting == t.Setting
			})
			var panels []Panel
			for _, d := range datasets(shown) {
				rows := results.Where(shown, func(r results.Record) bool { return r.Dataset == d })
				p := Panel{
					Title:  datasetTitle(d, shown),
					X:      epsilonAxis(results.Epsilons(rows)),
					Y:      Axis{Label: "accuracy in %", Bound: percent},
					Curves: s.curvesOf(rows, column("accuracy").Get),
				}
				if level, ok := s.baseline(sp, t, d, rows); ok {
					p.Levels = append(p.Levels, level)
				}
				panels = append(panels, p)
			}
			f, err := Curves(s.name("accuracy", sp, t), s.title("Accuracy against ε", sp, t, shown), panels,
				s.notes(shown, "Bars and band:")...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return out, reason(out, "no record has an accuracy")
}

// baseline returns the accuracy without privatisation: from its own rows where
// they exist, else from the column in privatised rows.
func (s *study) baseline(sp results.Space, t results.Task, dataset string, rows []results.Record) (Level, bool) {
	own := results.Where(s.records, func(r results.Record) bool {
		return r.Mechanism == baseline && r.Dataset == dataset && r.Model == t.Model &&
			r.Dimension == sp.Dimension && r.Embedding == sp.Embedding
	})
	if values := results.ByRepetition(own, column("accuracy").Get); len(values) > 0 {
		p := meanPoint(0, values)
		return Level{"baseline", p.Y, p.Low, p.High}, true
	}
	for _, r := range rows {
		if r.BaselineAccuracy.Known() {
			return Level{"baseline", float64(r.BaselineAccuracy), math.NaN(), math.NaN()}, true
		}
	}
	return Level{}, false
}
