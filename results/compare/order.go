package compare

import (
	"math"

	"mldpbench/results"
)

// Reordered is what differs between two orders of mechanisms.
type Reordered struct {
	Common   int       // pairs of mechanisms that both orders hold
	Opposite int       // of them, those whose means are in the opposite order
	Told     int       // pairs told apart in both
	Reversed [][2]Line // of these, those told apart in opposite ways: better here, better there
}

// Reorder compares the order of mechanisms at one level with another: of another
// axis, classifier or data set.
func (a Aligned) Reorder(other Aligned) Reordered {
	var r Reordered
	better := sign(results.MustColumn(a.Use).Direction)
	at := map[results.Instance]int{}
	for i, l := range other.Lines {
		if l.Reached {
			at[l.Instance] = i
		}
	}
	for _, here := range a.Pairs {
		i, one := at[a.Lines[here.A].Instance]
		j, two := at[a.Lines[here.B].Instance]
		there, tested := other.Pair(i, j)
		if !one || !two || !tested {
			continue
		}
		r.Common++
		opposite := here.Difference*there.Difference < 0
		if opposite {
			r.Opposite++
		}
		if !here.Told || !there.Told {
			continue
		}
		if r.Told++; opposite {
			x, y := a.Lines[here.A], a.Lines[here.B]
			if better*here.Difference < 0 {
				x, y = y, x
			}
			r.Reversed = append(r.Reversed, [2]Line{x, y})
		}
	}
	return r
}

// Fullest is, for every scene, the alignment at that level of an axis which most
// mechanisms reach, of equal ones that nearest to 0.5; none where fewer than two
// reach any.
func Fullest(p *results.Prepared, axis results.Axis) (all []Aligned) {
	for _, s := range tracedScenes(p, Question{Privacy: axis.Quantity}) {
		best, most := 0.0, 1
		for _, level := range AllLevels {
			n := len(results.Where(s.lines, func(l line) bool { _, _, ok := l.reaches(level, s.use, s.privacy); return ok }))
			if n > most || n == most && n > 1 && math.Abs(level-0.5) < math.Abs(best-0.5) {
				best, most = level, n
			}
		}
		if most > 1 {
			all = append(all, s.at(best).compared(s.use))
		}
	}
	return all
}
