package compare

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/results"
)

// Gap is where a line across a level of privacy, or of use, is long: between two measured ε.
type Gap struct {
	results.Instance
	Epsilon float64 // between them, about where the level is reached
	Wide    float64 // the step of the measure
}

// Gaps lists the mechanisms that have measured points on either side of the
// level of a scene, of Align or AtLoss, which are more than widest apart.
func Gaps(scenes []Aligned, widest float64) (gaps []Gap) {
	for _, a := range scenes {
		use, privacy := results.MustColumn(a.Use), results.MustColumn(a.Privacy)
		for _, l := range a.Lines {
			points := newLine(l.Cells, use, privacy).points
			slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.epsilon, b.epsilon) })
			for i := 1; i < len(points); i++ {
				lo, hi := points[i-1], points[i]
				wide := math.Abs(lo.privacy - hi.privacy)
				if (lo.privacy-a.At)*(hi.privacy-a.At) > 0 || wide <= widest || !(lo.epsilon > 0) {
					continue
				}
				// A curve is steep somewhere: no step is cut to less than a quarter.
				x := max(0.25, min(0.75, (a.At-lo.privacy)/(hi.privacy-lo.privacy)))
				gaps = append(gaps, Gap{l.Instance, math.Exp((1-x)*math.Log(lo.epsilon) + x*math.Log(hi.epsilon)), wide})
			}
		}
	}
	return gaps
}
