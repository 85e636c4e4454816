package analysis

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// familyLevel is the probability of any wrong finding in a family of tests.
const familyLevel = 0.05

// Margin is the difference of a quantity, in its unit, within which mechanisms may be called equivalent.
func Margin(c quantity.Quantity) float64 {
	if c.Unit == "%" {
		return 1
	}
	return cmp.Or(c.Threshold, 0.02)
}

// Alignment compares the mechanisms of one scene at one level of privacy. The use of a mechanism at the level is that
// of its own line: monotone, linear between the two nearest measured points, and never outside them. Intervals contain
// the sampling of test items, the spread of repetitions (pooled over the mechanisms of a scene, so that two repetitions
// suffice), the error of the measure of privacy, and that of interpolation. Mechanisms are compared by differences on
// the same items and repetitions. All pairs of one scene at one level are a family, corrected by Holm's method.
type Alignment struct {
	results.Place         // the scene, and whether its data are generated
	Use           string  // the quantity that mechanisms are compared by
	Privacy       string  // that of the level
	At            float64 // the level of privacy
	Baseline      float64 // use without privatisation, NaN where not measured
	Lines         []Line  // one a mechanism, in the order of the plan
	Pairs         []Pair  // of the mechanisms that reach the level
	Datasets      int     // over which the pairs are pooled; 0 for a single scene
	// Training says what the spread of training is known from; "" where it is not, and then nothing is tested.
	Training string
	baseline estimate
	use      quantity.Quantity
	privacy  quantity.Quantity
}

// Untested is what is said where nothing is known of training.
const Untested = "one repetition: repeat at least three times"

// What Alignment.Training says.
const (
	byRepetitions = "the repetitions"
	ByBaseline    = "the repetitions of the plain text, as each mechanism has one"
	noTraining    = "nothing that is trained"
)

// Line is a mechanism at a level of privacy.
type Line struct {
	results.Place // its instance in the scene, that of its first cell in Versions
	Name          string
	Cells         []results.Cell // all measured, at every ε
	Reached       bool           // false: the level is outside the points, or between two far apart

	Value         float64 // use at the level, on the curve between the nearest points
	Low, High     float64 // its 95% interval
	Error         float64 // standard error: items, repetitions, privacy and interpolation together
	Interpolation float64 // the part of the standard error that not knowing the curve between two points has
	Step          float64 // of privacy between those two points
	Epsilon       float64 // about where the level is reached
	curve
	at   sample
	rest float64 // the variance that has nothing to do with items and repetitions
}

// Pair compares two mechanisms at the same level of privacy.
type Pair struct {
	A, B       int // into Lines
	Difference float64
	Low, High  float64 // 95% interval
	Error      float64
	P          float64 // NaN: not tested
	Adjusted   float64 // Holm over the family
	Different  bool    // significantly
	Equivalent bool    // within Margin, by two one-sided tests (Holm)
	// Detectable is the smallest difference that the test finds with probability 0.8, even as the first of its family.
	Detectable float64
	estimate   estimate
}

// align evaluates the lines of scenes at a level, compares them, and adds what data sets say together.
func align(traced []Alignment, level float64) []Alignment {
	scenes := slices.Clone(traced)
	for k := range scenes {
		a := &scenes[k]
		a.At = level
		a.Lines = slices.Clone(a.Lines)
		for i := range a.Lines {
			a.Lines[i].evaluate(level)
		}
		a.compare()
	}
	return append(scenes, overDatasets(scenes)...)
}

// evaluate sets what a line has at a level, without interval.
func (l *Line) evaluate(level float64) {
	nan := math.NaN()
	l.Value = nan
	l.Low = nan
	l.High = nan
	l.Error = nan
	l.Epsilon = nan
	at, reached := l.reaches(level)
	l.Reached = reached
	if !reached {
		return
	}
	ofPrivacy := l.errorOfPrivacy(level, at)
	l.Interpolation = l.interpolationError(at)
	l.rest = ofPrivacy*ofPrivacy + l.Interpolation*l.Interpolation
	l.Epsilon = math.Exp((1-at.x)*math.Log(at.a.Epsilon) + at.x*math.Log(at.b.Epsilon))
	l.Step = math.Abs(at.a.Privacy - at.b.Privacy)
	l.Value = at.use()
	l.at = weigh(l.shares(at), l.use)
}

// spread is the variance of one repetition, its degrees of freedom, and what it is known from.
type spread struct {
	variance, degrees float64
	from              string
}

// spreadOf is the spread of repetitions of some estimates, differences of as many trained texts; baseline is the
// estimate of the plain text.
func spreadOf(all []estimate, mechanisms int, texts float64, baseline estimate, use quantity.Quantity) spread {
	pooled, degrees := pool(all, mechanisms)
	switch {
	case !math.IsNaN(pooled):
		return spread{pooled, degrees, byRepetitions}
	case !use.OfModel && use.Attacker == "":
		return spread{0, math.Inf(1), noTraining}
	case baseline.repetitions > 1 && !math.IsNaN(baseline.ofRepetitions) && use.OfModel:
		return spread{texts * max(0, baseline.ofRepetitions), float64(baseline.repetitions - 1), ByBaseline}
	}
	return spread{0, math.Inf(1), ""}
}

// compare sets the interval of each line, and tests every pair of mechanisms that reach the level.
func (a *Alignment) compare() {
	a.setIntervals()
	for i, x := range a.Lines {
		for j := i + 1; j < len(a.Lines); j++ {
			y := a.Lines[j]
			e := estimateOfDifference(x.at, y.at)
			if !e.known() { // one does not reach it
				continue
			}
			e.rest = x.rest + y.rest
			a.Pairs = append(a.Pairs, Pair{
				A:          i,
				B:          j,
				Difference: x.Value - y.Value,
				estimate:   e,
			})
		}
	}
	all := list.Map(a.Pairs, func(p Pair) estimate { return p.estimate })
	s := spreadOf(all, a.Reached()-1, 2, a.baseline, a.use)
	a.Training = s.from
	a.test(s)
}

// setIntervals sets the interval of each line.
func (a *Alignment) setIntervals() {
	all := list.Map(a.Lines, func(l Line) estimate { return estimateOf(l.at) })
	known := results.Where(all, estimate.known)
	s := spreadOf(known, len(known), 1, a.baseline, a.use)
	for i := range a.Lines {
		if all[i].known() { // else not reached, or without a spread
			a.Lines[i].setInterval(all[i], s, a.use)
		}
	}
}

// setInterval sets the interval of a line from its estimate and the spread of repetitions.
func (l *Line) setInterval(e estimate, s spread, use quantity.Quantity) {
	e.rest = l.rest
	variance, degrees := e.total(s)
	l.Error = math.Sqrt(variance)
	t := stats.NewTest(l.Value, l.Error, degrees)
	l.Low = t.Low
	l.High = t.High
	if variance == 0 && e.items > 0 { // all answers are alike
		scale := scaleOf(use)
		alike := stats.Alike(l.Value/scale, e.items, 0.95)
		l.Low = scale * alike.Low
		l.High = scale * alike.High
	}
	if use.Unit == "%" {
		l.Low = max(0, l.Low)
		l.High = min(100, l.High)
	}
}

// test makes the tests of the pairs, given the spread of repetitions that they share. The family is all pairs of this
// scene at this level.
func (a *Alignment) test(s spread) {
	if a.Training == "" { // nothing is known of it, and so neither is all that follows
		s.variance = math.NaN()
	}
	margin := Margin(a.use)
	beyond := make([]float64, len(a.Pairs)) // p-values of the hypothesis that a difference is beyond the margin
	for k := range a.Pairs {
		p := &a.Pairs[k]
		variance, degrees := p.estimate.total(s)
		t := p.estimate.test(p.Difference, variance, degrees)
		p.Low = t.Low
		p.High = t.High
		p.P = t.P
		p.Error = math.Sqrt(variance)
		p.Detectable = stats.Detectable(p.Error, degrees, familyLevel/float64(len(a.Pairs)))
		if variance == 0 {
			p.Detectable = math.NaN() // all answers are alike: few of them show nothing
		}
		// Two one-sided tests: each that the difference is beyond one end of the margin.
		beyond[k] = stats.NewTest(margin-math.Abs(p.Difference), p.Error, degrees).P / 2
		if math.Abs(p.Difference) >= margin {
			beyond[k] = 1 - beyond[k]
		}
	}
	for k, adjusted := range stats.Holm(list.Map(a.Pairs, func(p Pair) float64 {
		return p.P
	})) {
		a.Pairs[k].Adjusted = adjusted
		a.Pairs[k].Different = adjusted < familyLevel
	}
	for k, adjusted := range stats.Holm(beyond) {
		p := &a.Pairs[k] // its interval may be that of an exact test
		p.Equivalent = adjusted < familyLevel && !p.Different && max(-p.Low, p.High) <= margin
	}
}

// Reached counts the mechanisms that reach the level.
func (a Alignment) Reached() int {
	return list.Count(a.Lines, func(l Line) bool {
		return l.Reached
	})
}

// Pair returns the comparison of two lines, its difference that of x minus y.
func (a Alignment) Pair(x, y int) (Pair, bool) {
	for _, p := range a.Pairs {
		switch {
		case p.A == x && p.B == y:
			return p, true
		case p.A == y && p.B == x:
			turned := p
			turned.A = x
			turned.B = y
			turned.Difference = -p.Difference
			turned.Low = -p.High
			turned.High = -p.Low
			return turned, true
		}
	}
	return Pair{}, false
}

// DifferentFrom are the lines that one is significantly different from.
func (a Alignment) DifferentFrom(i int) (others []Line) {
	for j, l := range a.Lines {
		p, ok := a.Pair(i, j)
		if ok && p.Different {
			others = append(others, l)
		}
	}
	return others
}

// Competes reports whether a line may be called best: its guarantee holds between any two words, or it is the user's
// own text, of which nothing else was said.
func (l Line) Competes() bool {
	return l.Own() || results.Mark(l.Cells) == ""
}

// Best are the lines with the highest use, of those that compete: the first by its mean, then those that are not
// significantly different from it. Alone tells that it is different from all others.
func (a Alignment) Best() (best []int, alone bool) {
	up := sign(a.use.Direction)
	var competing []int
	for i, l := range a.Lines {
		if l.Reached && l.Competes() {
			competing = append(competing, i)
		}
	}
	slices.SortStableFunc(competing, func(i, j int) int {
		return cmp.Compare(up*a.Lines[j].Value, up*a.Lines[i].Value)
	})
	for k, i := range competing {
		p, ok := a.Pair(competing[0], i)
		if k == 0 || !ok || !p.Different {
			best = append(best, i)
		}
	}
	return best, len(best) == 1 && len(competing) > 1
}
