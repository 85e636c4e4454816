package compare

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Question says what mechanisms are compared by, and what is equal.
type Question struct {
	Use     string  // a quantity; "" for accuracy
	Privacy string  // a quantity; "" for that of the view's levels, mostly results.EM
	Level   float64 // probability of any wrong separation in a family; 0 for 0.05
}

// Whole fills in what a question leaves open.
func (q Question) Whole(p *results.Prepared) Question {
	q.Use, q.Privacy = cmp.Or(q.Use, "accuracy"), cmp.Or(q.Privacy, p.Stated().Quantity)
	q.Level = cmp.Or(q.Level, familyLevel)
	return q
}

const familyLevel = 0.05

// AllLevels are the levels of the table of an axis.
var AllLevels = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Aligned is one scene in which mechanisms are compared at one level of privacy.
type Aligned struct {
	results.Scene
	Question
	At       float64 // the level of privacy
	Baseline float64 // use without privatisation, NaN where not measured
	Lines    []Line  // one a mechanism, in the order of the plan
	Pairs    []Pair  // of the mechanisms that reach the level
	Tests    int     // of the family: all pairs of this scene at this level
}

// Line is a mechanism at a level of privacy.
type Line struct {
	results.Instance
	Name    string
	Cells   []results.Cell // all measured, at every ε
	Reached bool           // false: the level is outside the measured points, or between two far apart
	Least   float64        // of the measure of privacy, over the measured ε
	Most    float64

	Value     float64 // use at the level, on the line between the nearest points
	Low, High float64 // its 95% interval
	Error     float64 // standard error: items, repetitions, privacy and line together
	OfPrivacy float64 // the part that the error of the measure of privacy has
	OfLine    float64 // the part that not knowing the line between two points has
	Epsilon   float64 // about where the level is reached
	at        sampleOf
	df        float64
}

// Pair compares two mechanisms at the same level of privacy.
type Pair struct {
	A, B       int // into Lines
	Difference float64
	Low, High  float64 // 95% interval
	Error      float64
	P          float64
	Adjusted   float64 // Holm over the family
	Told       bool    // apart, beyond chance
	// Detectable is the smallest difference that the test finds with probability
	// 0.8, even as the first of its family.
	Detectable float64
	// Documents is how many test documents would tell a difference of this size
	// with probability 0.8, 0 where no number would, -1 where it is not known.
	Documents int
}

// Align compares mechanisms at a level of privacy, in every scene (data set,
// space, task) of the cells outside papers' figures. The use of a mechanism at the level is that of its
// own line: monotone, linear between the two nearest measured points, and never
// outside them. Intervals contain the sampling of test items, the spread of
// repetitions (pooled over the mechanisms of a scene, so that two repetitions
// suffice), the error of the measure of privacy, and that of the line between
// its points. Mechanisms are compared by differences on the same items and
// repetitions. All pairs of one scene at one level are a family, corrected by
// Holm's method.
func Align(p *results.Prepared, q Question, level float64) []Aligned {
	return list.Map(tracedScenes(p, q), func(s traced) Aligned { return s.at(level).compared(s.use) })
}

// AtLevels is Align at several levels, without the tests of pairs.
func AtLevels(p *results.Prepared, q Question, levels []float64) [][]Aligned {
	scenes := tracedScenes(p, q)
	return list.Map(levels, func(level float64) []Aligned {
		return list.Map(scenes, func(s traced) Aligned { return s.at(level) })
	})
}

// AtLoss is Align where equal is not privacy but use: Question.Use at the level
// of Question.Privacy that is loss below that of plain text. So it answers what
// an attacker finds, or how large E_M is, where a mechanism costs so much.
func AtLoss(p *results.Prepared, q Question, loss float64) []Aligned {
	return list.Map(tracedScenes(p, q), func(s traced) Aligned {
		return s.at(Plain(p, s.Scene, s.Privacy) - loss).compared(s.use)
	})
}

// traced is a scene with the line of each mechanism, at no level yet.
type traced struct {
	Aligned
	use, privacy results.Column
	lines        []line
}

func tracedScenes(p *results.Prepared, q Question) []traced {
	q = q.Whole(p)
	use, privacy := results.MustColumn(q.Use), results.MustColumn(q.Privacy)
	of := func(c results.Cell) results.Scene { return c.Scene() }
	measured := results.Where(p.Private(), func(c results.Cell) bool {
		return c.Has(q.Use) && c.Has(q.Privacy) && c.Status == results.StatusOK && c.Panel == ""
	})
	var out []traced
	for _, s := range results.Distinct(measured, of) {
		t := traced{Aligned{Scene: s, Question: q, Baseline: Plain(p, s, q.Use)}, use, privacy, nil}
		own := results.Where(measured, func(c results.Cell) bool { return of(c) == s })
		for _, i := range results.Instances(own) {
			cells := results.Where(own, func(c results.Cell) bool { return c.Instance() == i })
			t.Lines = append(t.Lines, Line{Instance: i, Name: p.Labels[i], Cells: cells})
			t.lines = append(t.lines, newLine(cells, use, privacy))
		}
		out = append(out, t)
	}
	return out
}

// at evaluates the lines at a level.
func (t traced) at(level float64) Aligned {
	a := t.Aligned
	a.At, a.Lines = level, slices.Clone(t.Lines)
	for i, l := range t.lines {
		at := l.at(level, t.use, t.privacy)
		at.Instance, at.Name, at.Cells = a.Lines[i].Instance, a.Lines[i].Name, a.Lines[i].Cells
		a.Lines[i] = at
	}
	a.intervals(t.use)
	return a
}

// compared adds the tests of all pairs.
func (a Aligned) compared(use results.Column) Aligned {
	a.pairs(use)
	return a
}

// Plain returns a quantity without privatisation: the mean of the baselines, or
// the ceiling that rows state; NaN where neither was measured.
func Plain(p *results.Prepared, s results.Scene, quantity string) float64 {
	own := results.Where(p.Cells, func(c results.Cell) bool {
		return c.Dataset == s.Dataset && c.Space() == s.Space && c.Model == s.Task.Model
	})
	base := results.Where(own, func(c results.Cell) bool { return c.IsBaseline() })
	if x := (results.Cells{Cells: base}).Values(quantity); len(x) > 0 {
		return stats.Mean(x)
	}
	for _, c := range own {
		if m, _ := c.At(quantity); m.Ceiling.Known() && m.Value.Known() {
			return float64(m.Ceiling)
		}
	}
	return math.NaN()
}

// at evaluates a line at a level, without interval.
func (l line) at(level float64, use, privacy results.Column) Line {
	out := Line{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Error: math.NaN(), Epsilon: math.NaN(),
		Least: math.Inf(1), Most: math.Inf(-1)}
	for _, p := range l.points {
		out.Least, out.Most = min(out.Least, p.privacy), max(out.Most, p.privacy)
	}
	i, x, ok := l.reaches(level, use, privacy)
	if !ok {
		return out
	}
	out.Reached, out.Value, out.Epsilon = true, l.value(i, x), l.points[i].epsilon
	if i > 0 {
		a, b := l.points[i-1], l.points[i]
		out.Epsilon = math.Exp((1-x)*math.Log(a.epsilon) + x*math.Log(b.epsilon))
	}
	out.OfPrivacy, out.OfLine = l.errorsAt(level, i, x)
	out.at = weigh(l.shares(i, x), use.Name, scaleOf(use))
	return out
}

// scaleOf is what one right item adds to a counted quantity.
func scaleOf(c results.Column) float64 {
	if c.Counted {
		return 100
	}
	return 1
}

// estimate is a mean with the parts of its variance.
type estimate struct {
	mean          float64
	items         float64 // from the sample of items
	n             int     // items, 0 where not known
	repetitions   int
	ofRepetitions float64 // of one repetition, NaN where not known

	// Of a difference of answers: the items, n of them or n in each repetition, on which
	// the first and the second does better, over repetitions if they are the same ones.
	// scale is what one right item adds, 0 where answers are not known, and plain tells
	// that there is nothing but one answer of each.
	first, second int
	scale         float64
	plain         bool
}

// fewItems are so few, of those that differ, that a normal approximation of their
// number is not relied on.
const fewItems = 12

// signs counts the items that differ.
func (e *estimate) signs(items [][]float64, scale float64, redrawn bool) {
	e.scale, e.plain = scale, len(items) == 1
	if !redrawn { // the same items
		sums := slices.Clone(items[0])
		for _, x := range items[1:] {
			floats.Add(sums, x)
		}
		items = [][]float64{sums}
	}
	for _, x := range slices.Concat(items...) {
		switch {
		case x > 0:
			e.first++
		case x < 0:
			e.second++
		}
		e.plain = e.plain && (x == 0 || x == scale || x == -scale)
	}
}

// test is that of a difference, given its variance. One of nothing but answers, which
// may be few or agree, is exact. Where few items differ, the exact test of their
// signs and the interval for answers in one repetition must agree with it too.
func (e *estimate) test(difference, variance, degrees float64) stats.Test {
	t := stats.NewTest(difference, math.Sqrt(variance), degrees)
	alone := e.plain && variance == e.items
	if e.scale == 0 || !alone && e.first+e.second >= fewItems {
		return t
	}
	exact := stats.McNemar(e.first, e.second, max(e.n, e.first+e.second))
	exact.Low, exact.High = e.scale*exact.Low, e.scale*exact.High
	if alone {
		return exact
	}
	return stats.Test{P: max(t.P, exact.P), Low: min(t.Low, exact.Low), High: max(t.High, exact.High)}
}

// estimateOf analyses the values of one mechanism, or of the difference of two
// where other is not nil.
func estimateOf(s sampleOf, other *sampleOf) (estimate, bool) {
	var shared []int
	for r := range s.means {
		if other == nil {
			shared = append(shared, r)
		} else if _, both := other.means[r]; both && s.data[r] == other.data[r] {
			shared = append(shared, r)
		}
	}
	slices.Sort(shared)
	if len(shared) == 0 {
		return estimate{}, false
	}
	means := make([]float64, len(shared))
	var items [][]float64
	for k, r := range shared {
		means[k] = s.means[r]
		var x []float64
		if s.items != nil {
			x = slices.Clone(s.items[r])
		}
		if other != nil {
			means[k] -= other.means[r]
			if other.items == nil || len(other.items[r]) != len(x) {
				x = nil
			}
			for i := range x {
				x[i] -= other.items[r][i]
			}
		}
		if x != nil {
			items = append(items, x)
		}
	}
	e := estimate{mean: stats.Mean(means), repetitions: len(shared), ofRepetitions: math.NaN()}
	if len(items) == len(shared) {
		equal := !slices.ContainsFunc(items, func(x []float64) bool { return len(x) != len(items[0]) })
		if l, err := stats.Crossed(items, !s.redrawn); equal && err == nil {
			e.items, e.n, e.ofRepetitions = l.OfItems, l.Items, l.OfRepetitions
			if other != nil {
				e.signs(items, s.scale, s.redrawn)
			}
			return e, true
		}
	}
	if len(shared) > 1 {
		e.ofRepetitions = stat.Variance(means, nil)
		switch {
		case other != nil:
		case s.redrawn: // the part of the spread that is known
			e.items = s.sampling / float64(len(shared))
			e.ofRepetitions -= s.sampling
		default: // the same items in all repetitions, which their spread does not show
			e.items = s.sampling
		}
		return e, true
	}
	e.items = s.sampling
	if other != nil {
		e.items += other.sampling
	}
	return e, e.items > 0
}

// pool is the variance of repetitions that estimates share, with its degrees of
// freedom, those of so many mechanisms.
func pool(all []estimate, mechanisms int) (pooled, df float64) {
	var values []float64
	repetitions := 0
	for _, e := range all {
		if !math.IsNaN(e.ofRepetitions) {
			values = append(values, e.ofRepetitions)
			repetitions = max(repetitions, e.repetitions)
		}
	}
	if len(values) == 0 {
		return 0, math.Inf(1)
	}
	return max(0, stats.Mean(values)), float64(max(1, mechanisms) * (repetitions - 1))
}

// total is the variance of an estimate, and its degrees of freedom
// (Satterthwaite): only the part of repetitions is estimated from few values.
func (e estimate) total(pooled, df, rest float64) (variance, degrees float64) {
	part := pooled / float64(e.repetitions)
	variance = e.items + part + rest
	if part == 0 {
		return variance, math.Inf(1)
	}
	return variance, df * (variance / part) * (variance / part)
}

// intervals sets the interval of each line.
func (a *Aligned) intervals(use results.Column) {
	all := make([]estimate, len(a.Lines))
	var known []estimate
	for i, l := range a.Lines {
		if e, ok := estimateOf(l.at, nil); ok {
			all[i], known = e, append(known, e)
		}
	}
	pooled, df := pool(known, len(known))
	for i := range a.Lines {
		l := &a.Lines[i]
		if !l.Reached || all[i].repetitions == 0 {
			continue
		}
		v, degrees := all[i].total(pooled, df, l.OfPrivacy*l.OfPrivacy+l.OfLine*l.OfLine)
		t := stats.NewTest(l.Value, math.Sqrt(v), degrees)
		if scale := scaleOf(use); v == 0 && all[i].n > 0 { // all answers are alike
			if alike, err := stats.Alike(l.Value/scale, all[i].n, 0.95); err == nil {
				t.Low, t.High = scale*alike.Low, scale*alike.High
			}
		}
		l.Low, l.High, l.Error, l.df = t.Low, t.High, math.Sqrt(v), degrees
		if use.Unit == "%" {
			l.Low, l.High = max(0, l.Low), min(100, l.High)
		}
	}
}

// pairs tests every pair of mechanisms that reach the level.
func (a *Aligned) pairs(use results.Column) {
	var all []estimate
	reached := 0
	for i, x := range a.Lines {
		if x.Reached {
			reached++
		}
		for j := i + 1; j < len(a.Lines); j++ {
			y := a.Lines[j]
			if !x.Reached || !y.Reached {
				continue
			}
			if e, ok := estimateOf(x.at, &y.at); ok {
				a.Pairs = append(a.Pairs, Pair{A: i, B: j, Difference: x.Value - y.Value})
				all = append(all, e)
			}
		}
	}
	a.Tests = len(a.Pairs)
	pooled, df := pool(all, reached-1)
	p := make([]float64, len(all))
	for k, e := range all {
		pair := &a.Pairs[k]
		x, y := a.Lines[pair.A], a.Lines[pair.B]
		rest := x.OfPrivacy*x.OfPrivacy + x.OfLine*x.OfLine + y.OfPrivacy*y.OfPrivacy + y.OfLine*y.OfLine
		v, degrees := e.total(pooled, df, rest)
		t := e.test(pair.Difference, v, degrees)
		pair.Low, pair.High, pair.P, pair.Error = t.Low, t.High, t.P, math.Sqrt(v)
		pair.Detectable = stats.Detectable(pair.Error, degrees, a.Level/float64(a.Tests))
		pair.Documents = e.documents(pair.Difference, v, pair.Detectable/pair.Error)
		p[k] = t.P
	}
	for k, adjusted := range stats.Holm(p) {
		a.Pairs[k].Adjusted, a.Pairs[k].Told = adjusted, adjusted < a.Level
	}
}

// documents is how many items make a difference detectable, where factor
// standard errors are needed for that.
func (e estimate) documents(difference, variance, factor float64) int {
	if e.n == 0 {
		return -1
	}
	allowed := difference*difference/(factor*factor) - (variance - e.items)
	if !(allowed > 0) {
		return 0
	}
	n := float64(e.n) * e.items / allowed
	if n > math.MaxInt32 {
		return 0
	}
	return int(math.Ceil(n))
}

// Reached counts the mechanisms that reach the level.
func (a Aligned) Reached() int {
	return len(results.Where(a.Lines, func(l Line) bool { return l.Reached }))
}

// Pair returns the comparison of two lines, its difference that of a minus b.
func (a Aligned) Pair(x, y int) (Pair, bool) {
	for _, p := range a.Pairs {
		switch {
		case p.A == x && p.B == y:
			return p, true
		case p.A == y && p.B == x:
			p.A, p.B, p.Difference, p.Low, p.High = x, y, -p.Difference, -p.High, -p.Low
			return p, true
		}
	}
	return Pair{}, false
}
