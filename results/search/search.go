// Package search looks for the ε at which a quantity has a level: measured points in, the next ε to measure or the
// reason to end out. It measures nothing itself and keeps nothing, so a search can stop and be resumed.
//
// It believes that a quantity is monotone in ε, but for noise, and says nothing of how fast it changes: a cliff is
// halved, a plateau is left in ever longer steps, an end of the range is measured before it is said to be one.
package search

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// The range of a search spans every ε in use.
const (
	LeastEpsilon = 1e-3
	MostEpsilon  = 1e5
)

// Point is the value of a quantity at an ε, NaN where it was measured and is not defined.
type Point struct{ Epsilon, Value float64 }

// Reason says why a search is done.
type Reason string

// The reasons to end a search; Going is none.
const (
	Going   Reason = ""
	Reached Reason = "reached"                  // as near as was asked for
	Cliff   Reason = "cliff"                    // no ε of three digits is left between the two that enclose the level
	Plateau Reason = "plateau"                  // all values are alike, up to the end of the range
	End     Reason = "end of the range"         // the level lies beyond what is reached there
	Rounds  Reason = "rounds spent"             // as many as were allowed
	Nowhere Reason = "not defined at any point" // nothing is known to go on from
)

// alike is how much two values may differ on a plateau.
const alike = 1e-9

// Question asks where a quantity has a level, and how near is enough.
type Question struct {
	Level float64
	Falls bool // with ε
	// A search ends at a point whose value is at least Level and at most Above more. With Near > 0 it ends instead
	// where two points whose values are Near or less apart enclose Level.
	Above, Near float64
	Low, High   float64                     // the range of ε
	Step        func(round int) float64     // the factor beyond an end, Doubled or Squared
	Scale       func(value float64) float64 // on which values are nearly straight in log ε; nil: as they are
	Rounds      int                         // allowed; 0: any number
}

// Doubled steps are 2, 4, 8, …
func Doubled(round int) float64 { return math.Exp2(float64(1 + round)) }

// Squared steps are 4, 16, 256, …
func Squared(round int) float64 { return math.Exp2(math.Exp2(float64(1 + round))) }

// Answer is the next ε to measure, or why there is none.
type Answer struct {
	Next     float64 // 0 where the search is done
	Done     Reason
	Enclosed bool     // the level lies between the two of Around
	Around   [2]Point // neighbours that enclose the level, else the ends of what is measured
	Best     Point    // of a search by Above that is Reached or at a Cliff: what it found
}

// Next answers after some rounds: 0 of the first. Points are in any order, those that are not defined among them.
func (q Question) Next(points []Point, round int) Answer {
	line := defined(points)
	if len(line) == 0 {
		return Answer{Done: Nowhere}
	}
	var answer Answer
	i := q.enclosing(line)
	if i > 0 {
		answer = q.inside(points, line, i)
	} else {
		answer = q.beyond(points, line, q.Step(round))
	}
	if q.Near == 0 {
		reached := slices.IndexFunc(line, q.reaches) // of several, that of the least ε
		if reached >= 0 {
			answer.Next = 0
			answer.Done = Reached
			answer.Best = line[reached]
		}
	}
	if answer.Done == Going && q.Rounds > 0 && round >= q.Rounds {
		answer.Next = 0
		answer.Done = Rounds
	}
	return answer
}

// inside splits the step to point i of the line, which encloses the level, unless it is short enough.
func (q Question) inside(points, line []Point, i int) Answer {
	low := line[i-1]
	high := line[i]
	answer := Answer{Enclosed: true, Around: [2]Point{low, high}}
	if q.Near > 0 && math.Abs(low.Value-high.Value) <= q.Near {
		answer.Done = Reached
		return answer
	}
	// Three digits may make an end of the step of its tenth, and not of its middle.
	for _, epsilon := range []float64{q.split(line, i), math.Sqrt(low.Epsilon * high.Epsilon)} {
		next := within(rounded(epsilon), low.Epsilon, high.Epsilon)
		if !isKnown(points, next) {
			answer.Next = next
			return answer
		}
	}
	answer.Done = Cliff
	answer.Best = q.best(line, i)
	return answer
}

// split is an ε between two neighbours that enclose the target. It is where their line in log ε meets the target, but
// not nearer to either than a tenth of the step, as a curve is steep somewhere; after such a step it is the middle.
func (q Question) split(line []Point, i int) float64 {
	const nearest, shortStep = 0.1, 0.12 // of the step
	low := q.scaled(line[i-1].Value)
	high := q.scaled(line[i].Value)
	width := math.Log(line[i].Epsilon / line[i-1].Epsilon)
	isShort := func(from, to int) bool {
		if from < 0 || to >= len(line) {
			return false
		}
		return math.Log(line[to].Epsilon/line[from].Epsilon) < shortStep*width
	}
	share := within((q.target()-low)/(high-low), nearest, 1-nearest)
	if isShort(i-2, i-1) || isShort(i, i+1) {
		share = 0.5
	}
	return line[i-1].Epsilon * math.Exp(share*width)
}

// beyond goes a step beyond the end of the line that is nearer to the level or, of ends alike, beyond the one to which
// the level lies if the quantity falls with ε or rises. An end of the range is measured once.
func (q Question) beyond(points, line []Point, step float64) Answer {
	first := line[0]
	last := line[len(line)-1]
	answer := Answer{Around: [2]Point{first, last}}
	next := last.Epsilon * step
	atEnd := last.Epsilon >= q.High
	if q.isBelow(first.Value, last.Value) {
		next = first.Epsilon / step
		atEnd = first.Epsilon <= q.Low
	}
	next = within(rounded(next), q.Low, q.High)
	if !atEnd && !isKnown(points, next) {
		answer.Next = next
		return answer
	}
	answer.Done = End
	if len(line) > 1 && math.Abs(first.Value-last.Value) < alike {
		answer.Done = Plateau
	}
	return answer
}

// isBelow reports whether the level lies below the first ε of a line, given the values at both ends.
func (q Question) isBelow(first, last float64) bool {
	first = q.scaled(first)
	last = q.scaled(last)
	if math.Abs(first-last) < alike {
		return (q.target() > first) == q.Falls
	}
	return math.Abs(first-q.target()) < math.Abs(last-q.target())
}

// enclosing is the first point of a line that encloses the target with the one before it, 0 for none.
func (q Question) enclosing(line []Point) int {
	for i := 1; i < len(line); i++ {
		low := q.scaled(line[i-1].Value)
		high := q.scaled(line[i].Value)
		if low != high && (low-q.target())*(high-q.target()) <= 0 {
			return i
		}
	}
	return 0
}

// best is the point of a line that is nearest to the level from above: of points alike, the one beside the cliff.
func (q Question) best(line []Point, i int) Point {
	best := line[i]
	if line[i-1].Value > best.Value {
		best = line[i-1]
	}
	for _, p := range line {
		if p.Value >= q.Level && p.Value < best.Value {
			best = p
		}
	}
	return best
}

// reaches reports whether a point is at the level or not too far above it.
func (q Question) reaches(p Point) bool { return p.Value >= q.Level && p.Value <= q.Level+q.Above }

// target is what a search aims at, on its scale: the middle of the values that reach the level.
func (q Question) target() float64 { return q.scaled(q.Level + q.Above/2) }

func (q Question) scaled(value float64) float64 {
	if q.Scale == nil {
		return value
	}
	return q.Scale(value)
}

// defined are the points that have a value, by rising ε.
func defined(points []Point) []Point {
	line := slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return math.IsNaN(p.Value)
	})
	slices.SortStableFunc(line, func(a, b Point) int {
		return cmp.Compare(a.Epsilon, b.Epsilon)
	})
	return line
}

func isKnown(points []Point, epsilon float64) bool {
	return slices.ContainsFunc(points, func(p Point) bool { return p.Epsilon == epsilon })
}

func within(x, low, high float64) float64 { return max(low, min(high, x)) }

// rounded is an ε of three digits.
func rounded(epsilon float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(epsilon, 'g', 3, 64), 64) // never fails
	return r
}
