package analysis

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/results/quantity"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Point is one measured ε of a mechanism: all its repetitions.
type Point struct {
	Epsilon      float64
	Privacy      float64 // mean
	use          float64 // mean
	cells        []results.Cell
	weight       float64 // values behind the use
	privacyError float64 // standard error of privacy
	block        int     // of the monotone fit
	fit          float64 // use after the monotone fit
}

// curve is the trade-off of one mechanism: its points by ascending privacy, with a use that never rises.
type curve struct {
	Points       []Point // by privacy
	use, privacy quantity.Quantity
	useSign      float64 // +1 where more use is better, −1 where less is
	privacySign  float64 // the same of privacy
}

// newCurve fits a curve to the cells of one mechanism in one scene.
func newCurve(cells []results.Cell, use, privacy quantity.Quantity) curve {
	c := curve{
		use:         use,
		privacy:     privacy,
		useSign:     sign(use.Direction),
		privacySign: sign(privacy.Direction),
	}
	for _, g := range results.GroupCells(cells) {
		privacies := g.Values(privacy.Name)
		uses := g.Values(use.Name)
		if len(privacies) == 0 || len(uses) == 0 {
			continue
		}
		c.Points = append(c.Points, Point{
			cells:   g.Cells,
			Epsilon: g.Cells[0].Epsilon.Float(),
			Privacy: stats.Mean(privacies),
			use:     stats.Mean(uses),
			weight:  float64(len(uses)),
		})
	}
	c.setPrivacyErrors()
	slices.SortStableFunc(c.Points, func(a, b Point) int {
		order := cmp.Compare(c.privacySign*a.Privacy, c.privacySign*b.Privacy)
		if order != 0 {
			return order
		}
		return cmp.Compare(b.Epsilon, a.Epsilon)
	})
	c.fitMonotone()
	return c
}

// setPrivacyErrors sets the standard error of privacy of each point: from the interval of the measure or, where
// repetitions have values of their own, from their spread, which all such points share.
func (c curve) setPrivacyErrors() {
	var variances []float64
	var spread []*Point // those that share the mean of the variances
	for i := range c.Points {
		p := &c.Points[i]
		values := (results.Cells{Cells: p.cells}).Values(c.privacy.Name)
		first, _ := p.cells[0].At(c.privacy.Name)
		own := standardError(first)
		switch {
		case own > 0:
			distinct := slices.Compact(slices.Sorted(slices.Values(values)))
			p.privacyError = own / math.Sqrt(float64(len(distinct)))
		case len(values) > 1 && slices.Min(values) < slices.Max(values):
			variances = append(variances, stat.Variance(values, nil))
			spread = append(spread, p)
		}
	}
	for _, p := range spread {
		repetitions := len((results.Cells{Cells: p.cells}).Values(c.privacy.Name))
		p.privacyError = math.Sqrt(stats.Mean(variances) / float64(repetitions))
	}
}

const z95 = 1.959963984540054

// standardError is that of a number with an interval, 0 of others.
func standardError(m results.Measured) float64 {
	if !(m.High.Float() > m.Low.Float()) {
		return 0
	}
	return (m.High.Float() - m.Low.Float()) / 2 / z95
}

// sign is −1 for a quantity of which less is better, +1 for others.
func sign(d quantity.Direction) float64 {
	if d == quantity.Down {
		return -1
	}
	return 1
}

// fitMonotone pools adjacent violators (Barlow et al. 1972): where more privacy seems to come with more use, neighbours
// share their mean.
func (c curve) fitMonotone() {
	var blocks [][]Point
	risesTo := func(k int) bool {
		return c.useSign*meanUse(blocks[k-1]) < c.useSign*meanUse(blocks[k])
	}
	for i := range c.Points {
		blocks = append(blocks, c.Points[i:i+1])
		for k := len(blocks) - 1; k > 0 && risesTo(k); k-- {
			both := len(blocks[k-1]) + len(blocks[k])
			blocks = append(blocks[:k-1], c.Points[i+1-both:i+1])
		}
	}
	for k, block := range blocks {
		fit := meanUse(block)
		for i := range block {
			block[i].block = k
			block[i].fit = fit
		}
	}
}

// meanUse is the mean use of points by their weights.
func meanUse(points []Point) float64 {
	sum := 0.0
	weight := 0.0
	for _, p := range points {
		sum += p.use * p.weight
		weight += p.weight
	}
	return sum / weight
}

// widestGap is the largest step of a share, such as E_M, between two neighbours: a line across more would be a guess.
const widestGap = 0.7

// spot is where a level of privacy is on a curve: between two neighbours, a share x of the way from the first to the
// second. At a single point both are this one.
type spot struct {
	a, b Point
	x    float64
}

func (s spot) use() float64 { return s.a.fit + s.x*(s.b.fit-s.a.fit) }

// between finds a level of privacy; ok is false outside the points.
func (c curve) between(level float64) (s spot, ok bool) {
	at := c.privacySign * level
	for i, b := range c.Points {
		if i == 0 && len(c.Points) > 1 {
			continue
		}
		a := c.Points[max(0, i-1)]
		from := c.privacySign * a.Privacy
		to := c.privacySign * b.Privacy
		if !(from <= at && at <= to) {
			continue
		}
		if from == to {
			return spot{a, b, 0}, true
		}
		return spot{a, b, (at - from) / (to - from)}, true
	}
	return s, false
}

// reaches is between, but where neighbours are too far apart for a line.
func (c curve) reaches(level float64) (s spot, ok bool) {
	s, ok = c.between(level)
	if c.privacy.Unit == "" && math.Abs(s.a.Privacy-s.b.Privacy) > widestGap {
		return s, false
	}
	if c.use.WidestGap > 0 && math.Abs(s.a.fit-s.b.fit) > c.use.WidestGap {
		return s, false
	}
	return s, ok
}

// clamped is the use at a level, that of the nearest end outside the points.
func (c curve) clamped(level float64) float64 {
	first := c.Points[0].Privacy
	last := c.Points[len(c.Points)-1].Privacy
	s, _ := c.between(min(max(level, min(first, last)), max(first, last)))
	return s.use()
}

// steps is how finely a mechanism is taken to lose use between two measured points that are gap apart: in so many equal
// steps at random places, of which a share x of the way has a binomial number. Leaving out one ε at a time of the study
// extended, the errors of lines were those of 17, 10 and 7 steps at gaps of 0.2, 0.3 and 0.4 of E_M, whose measured
// range there is 0.8; those of studies with three ε, of one step: two or three points say no more than that a value
// lies between its neighbours.
func (c curve) steps(gap float64) float64 {
	n := len(c.Points)
	if n < 4 {
		return 1
	}
	return max(1, 2.5*math.Abs(c.Points[n-1].Privacy-c.Points[0].Privacy)/gap)
}

// errorOfPrivacy is the standard error of the use at a level from the error of the measure of privacy.
func (c curve) errorOfPrivacy(level float64, s spot) float64 {
	e := math.Hypot((1-s.x)*s.a.privacyError, s.x*s.b.privacyError)
	return math.Abs(c.clamped(level+e)-c.clamped(level-e)) / 2
}

// interpolationError is the standard error of the use from not knowing the curve between two points.
func (c curve) interpolationError(s spot) float64 {
	gap := math.Abs(s.a.Privacy - s.b.Privacy)
	if gap == 0 {
		return 0
	}
	return math.Abs(s.a.fit-s.b.fit) * math.Sqrt(s.x*(1-s.x)/c.steps(gap))
}

// share is the weight of the cells of a point in the use at a level.
type share struct {
	cells  []results.Cell
	weight float64
}

// shares are the points that a use at a level is a mean of.
func (c curve) shares(at spot) []share {
	shareOf := map[int]float64{} // by block
	shareOf[at.b.block] = at.x
	shareOf[at.a.block] += 1 - at.x
	weightOf := map[int]float64{} // by block
	for _, p := range c.Points {
		weightOf[p.block] += p.weight
	}
	var out []share
	for _, p := range c.Points {
		weight := shareOf[p.block] * p.weight / weightOf[p.block]
		if weight > 0 {
			out = append(out, share{p.cells, weight})
		}
	}
	return out
}
