package compare

import (
	"math"

	"mldpbench/results"
)

// Gap is where a line across a level of privacy is long: between two measured ε.
type Gap struct {
	results.Instance
	Epsilon float64 // between them, about where the level is reached
	Wide    float64 // the step of the measure of privacy
}

// Gaps lists the mechanisms that have measured points on either side of a level
// which are more than widest apart, in any scene.
func Gaps(p *results.Prepared, q Question, level, widest float64) (gaps []Gap) {
	q = q.Whole(p)
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	for _, a := range Align(p, q, level) { // for its scenes and lines
		for _, l := range a.Lines {
			own := newLine(l.Cells, use, privacy)
			i, x, ok := own.between(level)
			if !ok || i == 0 {
				continue
			}
			lo, hi := own.points[i-1], own.points[i]
			wide := math.Abs(lo.privacy - hi.privacy)
			if wide <= widest || !(lo.epsilon > 0) || !(hi.epsilon > 0) || lo.epsilon == hi.epsilon {
				continue
			}
			gaps = append(gaps, Gap{l.Instance, math.Exp((1-x)*math.Log(lo.epsilon) + x*math.Log(hi.epsilon)), wide})
		}
	}
	return gaps
}
