package analysis

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/results"
)

// familyLevel is the probability of any wrong separation in a family.
const familyLevel = 0.05

// Margin is the difference of a quantity below which mechanisms are called level,
// in its unit.
func Margin(c results.Column) float64 {
	if c.Unit == "%" {
		return 1
	}
	return cmp.Or(c.Threshold, 0.02)
}

// Aligned is one scene in which mechanisms are compared at one level of privacy. The use of a mechanism at the level is
// that of its own line: monotone, linear between the two nearest measured points, and never outside them. Intervals
// contain the sampling of test items, the spread of repetitions (pooled over the mechanisms of a scene, so that two
// repetitions suffice), the error of the measure of privacy, and that of the line between its points. Mechanisms are
// compared by differences on the same items and repetitions. All pairs of one scene at one level are a family,
// corrected by Holm's method.
type Aligned struct {
	results.Place         // the scene, and whether its data are generated
	Use           string  // the quantity that mechanisms are compared by
	Privacy       string  // that of the level
	At            float64 // the level of privacy
	Baseline      float64 // use without privatisation, NaN where not measured
	Lines         []Line  // one a mechanism, in the order of the plan
	Pairs         []Pair  // of the mechanisms that reach the level
	Datasets      int     // over which the pairs are pooled; 0 for a single scene
	// Training says what the spread of training is known from; "" where it is not,
	// and then nothing is tested.
	Training     string
	plain        estimate // of the baseline
	use, privacy results.Column
}

// Untested is what is said where nothing is known of training.
const Untested = "one repetition: repeat at least three times"

// ByRepetitions and the others are what Aligned.Training says.
const (
	ByRepetitions = "the repetitions"
	ByBaseline    = "the repetitions of the plain text, as each mechanism has one"
	noTraining    = "nothing that is trained"
)

// Line is a mechanism at a level of privacy.
type Line struct {
	results.Place // its instance in the scene, that of its first cell in Versions
	Name          string
	Cells         []results.Cell // all measured, at every ε
	Reached       bool           // false: the level is outside the points, or between two far apart

	Value     float64 // use at the level, on the line between the nearest points
	Low, High float64 // its 95% interval
	Error     float64 // standard error: items, repetitions, privacy and line together
	OfLine    float64 // the part that not knowing the line between two points has
	Step      float64 // of privacy between those two points
	Epsilon   float64 // about where the level is reached
	line
	at   sampleOf
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
	Told       bool    // apart, beyond chance
	Level      bool    // not beyond Margin, by two one-sided tests (Holm)
	// Detectable is the smallest difference that the test finds with probability
	// 0.8, even as the first of its family.
	Detectable float64
	estimate   estimate
}

// align evaluates the lines of scenes at a level, compares them, and adds what data sets say together.
func align(traced []Aligned, level float64) []Aligned {
	scenes := slices.Clone(traced)
	for k := range scenes {
		a := &scenes[k]
		a.At = level
		a.Lines = slices.Clone(a.Lines)
		for i := range a.Lines {
			a.Lines[i].set(level)
		}
		a.compare()
	}
	return append(scenes, overDatasets(scenes)...)
}

// Versions compares what was measured of every mechanism and ε as it is, pair by
// pair, at no common level: whether one version of a text does better than another
// says nothing about their mechanisms. Lines are in the order of the cells.
func (all *Analysis) Versions(quantity string) Aligned {
	p := all.Prepared
	a := Aligned{Use: all.Use(quantity), Privacy: all.privacy, use: results.MustColumn(quantity)}
	for _, g := range results.GroupCells(p.Private()) {
		if len(g.Values(quantity)) == 0 {
			continue
		}
		if len(a.Lines) == 0 {
			_, a.plain = plainOf(p, g.Scene(), a.use)
		}
		at := weigh([]share{{g.Cells, 1}}, a.use)
		c := g.Cells[0]
		a.Lines = append(a.Lines, Line{Place: c.Place, Name: p.Name(c.Place), Cells: g.Cells, Reached: true,
			Value: at.mean(), Epsilon: c.Epsilon.Float(), at: at})
	}
	a.compare()
	return a
}

// Traces are what has a quantity, over the ε of each mechanism in each scene.
func Traces(p *results.Prepared, quantity string) [][]results.Cells {
	measured := results.Where(results.GroupCells(p.Private()), func(g results.Cells) bool {
		return len(g.Values(quantity)) > 0 && g.Epsilon.Known()
	})
	return list.Group(measured, func(g results.Cells) results.Place { g.Epsilon = results.Missing; return g.Place })
}

// tracedScenes are the scenes with the line of each mechanism, at no level yet.
func tracedScenes(p *results.Prepared, use, privacy string) []Aligned {
	// The measure of privacy may have been taken in one repetition only.
	has := map[results.Place]bool{}
	for _, c := range p.Cells {
		has[c.Group()] = has[c.Group()] || c.Has(privacy)
	}
	all := results.Where(p.Private(), func(c results.Cell) bool {
		return c.Has(use) && has[c.Group()] && c.Status == results.StatusOK
	})
	return list.Map(list.Group(all, results.Cell.Scene), func(own []results.Cell) Aligned {
		s := own[0].Scene()
		a := Aligned{
			Place:   s,
			Use:     use,
			Privacy: privacy,
			use:     results.MustColumn(use),
			privacy: results.MustColumn(privacy),
		}
		a.Generated = own[0].Generated
		a.Baseline, a.plain = plainOf(p, s, a.use)
		for _, cells := range results.ByInstance(own) {
			i := cells[0].Instance()
			l := Line{Place: a.Place, Name: p.Name(i), Cells: cells, line: newLine(cells, a.use, a.privacy)}
			l.Mechanism, l.Variant, l.Parameters, l.Label = i.Mechanism, i.Variant, i.Parameters, i.Label
			a.Lines = append(a.Lines, l)
		}
		return a
	})
}

// plainOf is a quantity without privatisation, of the baselines that belong to a
// scene: their mean, or the ceiling that rows state, NaN where neither was measured;
// and its estimate.
func plainOf(p *results.Prepared, s results.Place, use results.Column) (mean float64, e estimate) {
	own := results.Where(p.Cells, func(c results.Cell) bool {
		of := c.Scene()
		of.Setting = s.Setting
		return c.IsBaseline() && of == s
	})
	e = estimateOf(weigh([]share{{own, 1}}, use), nil)
	if x := (results.Cells{Cells: own}).Values(use.Name); len(x) > 0 {
		return stats.Mean(x), e
	}
	for _, c := range p.Cells {
		if m, _ := c.At(use.Name); c.Scene() == s && m.Ceiling.Known() && m.Value.Known() {
			return m.Ceiling.Float(), e
		}
	}
	return math.NaN(), e
}

// set evaluates a line at a level, without interval.
func (l *Line) set(level float64) {
	nan := math.NaN()
	l.Value, l.Low, l.High, l.Error, l.Epsilon = nan, nan, nan, nan, nan
	at, ok := l.reaches(level)
	if l.Reached = ok; !ok {
		return
	}
	ofPrivacy, ofLine := l.errorsAt(level, at)
	l.Epsilon = math.Exp((1-at.x)*math.Log(at.a.Epsilon) + at.x*math.Log(at.b.Epsilon))
	l.Step = math.Abs(at.a.Privacy - at.b.Privacy)
	l.Value, l.OfLine, l.rest, l.at = at.use(), ofLine, ofPrivacy*ofPrivacy+ofLine*ofLine, weigh(l.shares(at), l.use)
}

// scaleOf is what one right item adds to a counted quantity.
func scaleOf(c results.Column) float64 {
	if c.Counted {
		return 100
	}
	return 1
}

// spread is the variance of repetitions of some estimates, differences of as many
// trained texts, and what it is known from; plain is the estimate of the plain text.
func spread(all []estimate, mechanisms int, texts float64, plain estimate, use results.Column) (pooled, df float64,
	from string) {
	pooled, df = pool(all, mechanisms)
	switch {
	case !math.IsNaN(pooled):
		return pooled, df, ByRepetitions
	case !use.OfModel && use.Attacker == "":
		return 0, math.Inf(1), noTraining
	case plain.repetitions > 1 && !math.IsNaN(plain.ofRepetitions) && use.OfModel:
		return texts * max(0, plain.ofRepetitions), float64(plain.repetitions - 1), ByBaseline
	}
	return 0, math.Inf(1), ""
}

// intervals sets the interval of each line.
func (a *Aligned) intervals() {
	all := list.Map(a.Lines, func(l Line) estimate { return estimateOf(l.at, nil) })
	known := results.Where(all, estimate.known)
	pooled, df, _ := spread(known, len(known), 1, a.plain, a.use)
	for i := range a.Lines {
		l := &a.Lines[i]
		if !all[i].known() { // not reached, or without a spread
			continue
		}
		all[i].rest = l.rest
		v, degrees := all[i].total(pooled, df)
		t := stats.NewTest(l.Value, math.Sqrt(v), degrees)
		if scale := scaleOf(a.use); v == 0 && all[i].n > 0 { // all answers are alike
			alike := stats.Alike(l.Value/scale, all[i].n, 0.95)
			t.Low, t.High = scale*alike.Low, scale*alike.High
		}
		l.Low, l.High, l.Error = t.Low, t.High, math.Sqrt(v)
		if a.use.Unit == "%" {
			l.Low, l.High = max(0, l.Low), min(100, l.High)
		}
	}
}

// compare sets the interval of each line, and tests every pair of mechanisms that reach the level.
func (a *Aligned) compare() {
	a.intervals()
	for i, x := range a.Lines {
		for j := i + 1; j < len(a.Lines); j++ {
			y := a.Lines[j]
			if e := estimateOf(x.at, &y.at); e.known() { // both reach it
				e.rest = x.rest + y.rest
				a.Pairs = append(a.Pairs, Pair{A: i, B: j, Difference: x.Value - y.Value, estimate: e})
			}
		}
	}
	all := list.Map(a.Pairs, func(p Pair) estimate { return p.estimate })
	pooled, df, from := spread(all, a.Reached()-1, 2, a.plain, a.use)
	a.Training = from
	a.test(pooled, df)
}

// test makes the tests of the pairs, given the variance of repetitions that they
// share.
func (a *Aligned) test(pooled, df float64) {
	if a.Training == "" { // and so is all that follows
		pooled = math.NaN()
	}
	n := len(a.Pairs) // the family: all pairs of this scene at this level
	equal := make([]float64, n)
	for k := range a.Pairs {
		pair := &a.Pairs[k]
		e := pair.estimate
		v, degrees := e.total(pooled, df)
		t := e.test(pair.Difference, v, degrees)
		pair.Low, pair.High, pair.P, pair.Error = t.Low, t.High, t.P, math.Sqrt(v)
		if pair.Detectable = stats.Detectable(pair.Error, degrees, familyLevel/float64(n)); v == 0 {
			pair.Detectable = math.NaN() // all answers are alike: few of them show nothing
		}
		// Two one-sided tests: each that the difference is beyond one end of the margin.
		equal[k] = stats.NewTest(Margin(a.use)-math.Abs(pair.Difference), pair.Error, degrees).P / 2
		if math.Abs(pair.Difference) >= Margin(a.use) {
			equal[k] = 1 - equal[k]
		}
	}
	for k, adjusted := range stats.Holm(list.Map(a.Pairs, func(p Pair) float64 { return p.P })) {
		a.Pairs[k].Adjusted, a.Pairs[k].Told = adjusted, adjusted < familyLevel
	}
	for k, adjusted := range stats.Holm(equal) {
		p := &a.Pairs[k] // its interval may be that of an exact test
		p.Level = adjusted < familyLevel && !p.Told && max(-p.Low, p.High) <= Margin(a.use)
	}
}

// Reached counts the mechanisms that reach the level.
func (a Aligned) Reached() int { return list.Count(a.Lines, func(l Line) bool { return l.Reached }) }

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

// Apart are the lines that one is told apart from.
func (a Aligned) Apart(i int) (others []Line) {
	for j, l := range a.Lines {
		if p, ok := a.Pair(i, j); ok && p.Told {
			others = append(others, l)
		}
	}
	return others
}

// Competes reports whether a line may be called best: its guarantee holds between
// any two words, or it is the user's own text, of which nothing else was said.
func (l Line) Competes() bool {
	return l.Own() || results.Mark(l.Cells) == ""
}

// Best are the lines that keep most, of those that compete: the first by its mean,
// then those that are not told apart from it. Alone tells that it is told apart from
// all others.
func (a Aligned) Best() (best []int, alone bool) {
	up := sign(a.use.Direction)
	var compete []int
	for i, l := range a.Lines {
		if l.Reached && l.Competes() {
			compete = append(compete, i)
		}
	}
	slices.SortStableFunc(compete, func(i, j int) int { return cmp.Compare(up*a.Lines[j].Value, up*a.Lines[i].Value) })
	for k, i := range compete {
		if p, ok := a.Pair(compete[0], i); k == 0 || !ok || !p.Told {
			best = append(best, i)
		}
	}
	return best, len(best) == 1 && len(compete) > 1
}
