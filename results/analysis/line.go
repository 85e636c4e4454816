package analysis

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"mldpbench/internal/stats"
	"mldpbench/results"
)

// Point is one measured ε of a mechanism: all its repetitions.
type Point struct {
	Epsilon      float64
	Privacy, use float64 // means
	cells        []results.Cell
	weight       float64 // values behind the use
	privacyError float64 // standard error of privacy
	block        int     // of the monotone fit
	fit          float64 // use after the monotone fit
}

// line is the trade-off of one mechanism: its points by ascending privacy, with
// a use that never rises.
type line struct {
	Points       []Point // by privacy
	use, privacy results.Column
	upUse        float64 // +1 where more use is better, −1 where less is
	upHide       float64 // the same of privacy
}

// newLine fits a line to the cells of one mechanism in one scene.
func newLine(cells []results.Cell, use, privacy results.Column) line {
	l := line{use: use, privacy: privacy, upUse: sign(use.Direction), upHide: sign(privacy.Direction)}
	var spread []float64 // of privacy within points, where repetitions have their own
	for _, c := range results.GroupCells(cells) {
		x, u := c.Values(privacy.Name), c.Values(use.Name)
		if len(x) == 0 || len(u) == 0 {
			continue
		}
		p := Point{cells: c.Cells, Epsilon: c.Cells[0].Epsilon.Float(), Privacy: stats.Mean(x), use: stats.Mean(u),
			weight: float64(len(u))}
		if m, _ := c.Cells[0].At(privacy.Name); standardError(m) > 0 {
			distinct := slices.Compact(slices.Sorted(slices.Values(x)))
			p.privacyError = standardError(m) / math.Sqrt(float64(len(distinct)))
		} else if len(x) > 1 && slices.Min(x) < slices.Max(x) {
			spread = append(spread, stat.Variance(x, nil))
			p.privacyError = -float64(len(x)) // filled in below
		}
		l.Points = append(l.Points, p)
	}
	for i := range l.Points {
		if p := &l.Points[i]; p.privacyError < 0 {
			p.privacyError = math.Sqrt(stats.Mean(spread) / -p.privacyError)
		}
	}
	slices.SortStableFunc(l.Points, func(a, b Point) int {
		return cmp.Or(cmp.Compare(l.upHide*a.Privacy, l.upHide*b.Privacy), cmp.Compare(b.Epsilon, a.Epsilon))
	})
	l.monotone()
	return l
}

const z95 = 1.959963984540054

// standardError is that of a number with an interval, 0 of others.
func standardError(m results.Measured) float64 {
	if !(m.High.Float() > m.Low.Float()) {
		return 0
	}
	return (m.High.Float() - m.Low.Float()) / 2 / z95
}

func sign(d results.Direction) float64 {
	if d == results.Down {
		return -1
	}
	return 1
}

// monotone pools adjacent violators (Barlow et al. 1972): where more privacy
// seems to come with more use, neighbours share their mean.
func (l line) monotone() {
	var blocks [][]Point
	mean := func(b []Point) float64 {
		sum, weight := 0.0, 0.0
		for _, p := range b {
			sum, weight = sum+p.use*p.weight, weight+p.weight
		}
		return sum / weight
	}
	for i := range l.Points {
		blocks = append(blocks, l.Points[i:i+1])
		for k := len(blocks) - 1; k > 0 && l.upUse*mean(blocks[k-1]) < l.upUse*mean(blocks[k]); k-- {
			both := len(blocks[k-1]) + len(blocks[k])
			blocks = append(blocks[:k-1], l.Points[i+1-both:i+1])
		}
	}
	for k, b := range blocks {
		fit := mean(b)
		for i := range b {
			b[i].block, b[i].fit = k, fit
		}
	}
}

// widestGap is the largest step of a share, such as E_M, between two neighbours:
// a line across more would be a guess.
const widestGap = 0.7

// spot is where a level of privacy is on a line: between two neighbours, a share x of
// the way from the first to the second. At a single point both are this one.
type spot struct {
	a, b Point
	x    float64
}

func (s spot) use() float64 { return s.a.fit + s.x*(s.b.fit-s.a.fit) }

// between finds a level of privacy; ok is false outside the points.
func (l line) between(level float64) (s spot, ok bool) {
	for i, b := range l.Points {
		a := l.Points[max(0, i-1)]
		from, at, to := l.upHide*a.Privacy, l.upHide*level, l.upHide*b.Privacy
		switch {
		case !(from <= at && at <= to) || i == 0 && len(l.Points) > 1:
		case from == to:
			return spot{a, b, 0}, true
		default:
			return spot{a, b, (at - from) / (to - from)}, true
		}
	}
	return s, false
}

// reaches is between, but where neighbours are too far apart for a line.
func (l line) reaches(level float64) (s spot, ok bool) {
	s, ok = l.between(level)
	return s, ok && !(l.privacy.Unit == "" && math.Abs(s.a.Privacy-s.b.Privacy) > widestGap ||
		l.use.Name == results.EM && math.Abs(s.a.fit-s.b.fit) > widestGap)
}

// clamped is the use at a level, that of the nearest end outside the points.
func (l line) clamped(level float64) float64 {
	a, b := l.Points[0].Privacy, l.Points[len(l.Points)-1].Privacy
	s, _ := l.between(min(max(level, min(a, b)), max(a, b)))
	return s.use()
}

// steps is how finely a mechanism is taken to lose use between two measured
// points that are gap apart: in so many equal steps at random places, of which a
// share x of the way has a binomial number. Leaving out one ε at a time of the
// study extended, the errors of lines were those of 17, 10 and 7 steps at gaps of
// 0.2, 0.3 and 0.4 of E_M, whose measured range there is 0.8; those of studies
// with three ε, of one step: two or three points say no more than that a value
// lies between its neighbours.
func (l line) steps(gap float64) float64 {
	n := len(l.Points)
	if n < 4 {
		return 1
	}
	return max(1, 2.5*math.Abs(l.Points[n-1].Privacy-l.Points[0].Privacy)/gap)
}

// errorsAt returns the standard errors of the use at a level from the error of
// the measure of privacy, and from not knowing the line between two points.
func (l line) errorsAt(level float64, s spot) (ofPrivacy, ofLine float64) {
	e := math.Hypot((1-s.x)*s.a.privacyError, s.x*s.b.privacyError)
	if gap := math.Abs(s.a.Privacy - s.b.Privacy); gap > 0 {
		ofLine = math.Abs(s.a.fit-s.b.fit) * math.Sqrt(s.x*(1-s.x)/l.steps(gap))
	}
	return math.Abs(l.clamped(level+e)-l.clamped(level-e)) / 2, ofLine
}

// share is the weight of the cells of a point in the use at a level.
type share struct {
	cells  []results.Cell
	weight float64
}

// shares are the points that a use at a level is a mean of.
func (l line) shares(at spot) []share {
	of, whole := map[int]float64{at.b.block: at.x}, map[int]float64{} // by block
	of[at.a.block] += 1 - at.x
	for _, p := range l.Points {
		whole[p.block] += p.weight
	}
	var out []share
	for _, p := range l.Points {
		if w := of[p.block] * p.weight / whole[p.block]; w > 0 {
			out = append(out, share{p.cells, w})
		}
	}
	return out
}

// sampleOf is the weighted use of some cells by repetition, and by test item
// where items are stored.
type sampleOf struct {
	data     map[int]string    // fingerprint, by repetition
	means    map[int]float64   // by repetition
	items    map[int][]float64 // by repetition; nil where some cell has none
	sampling float64           // variance that the sample of items gives the mean of one repetition
	redrawn  bool              // each repetition has its own documents
	scale    float64           // what one right item adds to the use
}

// weigh combines the cells of several points, repetition by repetition: those
// repetitions that all points have.
func weigh(shares []share, use results.Column) sampleOf {
	s := sampleOf{data: map[int]string{}, means: map[int]float64{}, items: map[int][]float64{}, scale: scaleOf(use)}
	seen := map[int]int{}
	deviation := map[int]float64{} // items are the same at all points: their errors add up
	for _, share := range shares {
		for _, c := range share.cells {
			m, ok := c.At(use.Name)
			if !ok || !m.Value.Known() {
				continue
			}
			r := c.Repetition
			seen[r]++
			s.data[r] = c.DatasetFingerprint
			s.redrawn = s.redrawn || strings.HasPrefix(c.DatasetFingerprint, "redrawn")
			s.means[r] += share.weight * m.Value.Float()
			deviation[r] += share.weight * math.Sqrt(sampling(m, use))
			right := m.Right()
			if right == nil || s.items == nil || s.items[r] != nil && len(s.items[r]) != len(right) {
				s.items = nil
				continue
			}
			if s.items[r] == nil {
				s.items[r] = make([]float64, len(right))
			}
			for i, yes := range right {
				if yes {
					s.items[r][i] += share.weight * s.scale
				}
			}
		}
	}
	for r, n := range seen {
		if n < len(shares) {
			delete(s.means, r)
			delete(s.data, r)
			delete(s.items, r)
			continue
		}
		s.sampling = max(s.sampling, deviation[r]*deviation[r])
	}
	prints := results.Distinct(slices.Collect(maps.Values(s.data)), func(f string) string { return f })
	s.redrawn = s.redrawn || len(prints) > 1
	return s
}

// sampling is the variance that the sample of items gives a number: binomial
// for shares, from its own interval for others, 0 where neither is known.
func sampling(m results.Measured, c results.Column) float64 {
	if v := m.Value.Float(); c.Counted && m.Whole > 0 {
		return v * (100 - v) / float64(m.Whole)
	}
	return standardError(m) * standardError(m)
}
