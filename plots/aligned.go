package plots

import (
	"math"
	"slices"

	"mldpbench/results"
)

// alignedFigures tabulates accuracy at equal error of the adversary: the
// frontier at a few errors, with a row per mechanism and a column per data set
// and error.
func alignedFigures(s *study) ([]Figure, error) {
	levels := []float64{0.2, 0.4, 0.6, 0.8}
	var out []Figure
	for _, sp := range s.spaces {
		for _, t := range s.tasks {
			shown := results.Where(s.in(sp), func(r results.Record) bool {
				return r.Model == t.Model && r.Setting == t.Setting
			})
			aligned := results.Align(shown, levels)
			g := Grid{Title: "accuracy in %"}
			sets := datasets(shown)
			for _, d := range sets {
				g.Groups = append(g.Groups, Group{datasetTitle(d, shown), len(levels)})
				for _, level := range levels {
					g.Columns = append(g.Columns, short(level))
				}
			}
			for _, id := range s.curves {
				row := slices.Repeat([]float64{math.NaN()}, len(g.Columns))
				some := false
				for _, a := range aligned {
					if a.Instance != id {
						continue
					}
					for j, v := range a.Accuracy {
						if v.N > 0 {
							row[slices.Index(sets, a.Dataset)*len(levels)+j] = v.Mean
							some = true
						}
					}
				}
				if some {
					g.Rows, g.Values = append(g.Rows, s.labels[id]), append(g.Values, row)
				}
			}
			if len(g.Rows) == 0 {
				continue
			}
			notes := append([]string{"Means over repetitions, on the line that joins the ε of the study; – " +
				"where none is near."}, s.warnings(shown)...)
			f, err := HeatMap(s.name("aligned", sp, t), s.title("Accuracy at equal error of the adversary", sp, t,
				shown), "MAP adversary’s error E_M", []Grid{g}, notes...)
			if err == nil {
				out = append(out, f)
			}
		}
	}
	return out, reason(out, "no mechanism has accuracies on both sides of an inference error (e_m_map)")
}
