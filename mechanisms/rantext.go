package mechanisms

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
)

func init() {
	Register(Definition{
		Name:     "rantext",
		Title:    "RANTEXT",
		Source:   "Tong et al. 2025 (InferDPT), §4.3 and its code",
		Metric:   "discrete",
		Order:    200,
		Variants: []Variant{Printed},
		Weighs:   true,
		New:      newRANTEXT,
	})
}

// rantext draws the size of a random adjacency list and then a word from it: D
// is the length of a vector of independent Laplace numbers, the j-th of scale
// (max φ_j − min φ_j)/f(ε), the words at distance d < D from the input are its
// candidates, and Pr[y|D] ∝ exp((ε/2)·(D−d)/D). f(ε) = ε below 2, and
// 0.0166·ln(19.06ε − 38.13) + 9.311 from 2 on: f jumps there from 2 to 9.1.
//
// The source claims ε-DP with respect to the rating of candidates; the list of
// candidates itself depends on the input.
type rantext struct {
	grouping
	built
	space   *embeddings.Space
	ranges  []float64 // of each coordinate, divided by the largest
	largest float64   // range
}

func newRANTEXT(env Environment, s Settings) (Mechanism, error) {
	m := &rantext{
		built: built{s, Guarantee{Reason: "the list of candidates depends on the word: " +
			"an output far from one word and near another tells them apart by more than epsilon"}, env.Space.Vocabulary},
		space:  env.Space,
		ranges: make([]float64, env.Space.Dimension),
	}
	d := env.Space.Dimension
	for j := range m.ranges {
		least, most := math.Inf(1), math.Inf(-1)
		for i := j; i < len(env.Space.Vectors); i += d {
			least, most = min(least, float64(env.Space.Vectors[i])), max(most, float64(env.Space.Vectors[i]))
		}
		m.ranges[j] = most - least
	}
	m.largest = slices.Max(m.ranges)
	if m.largest > 0 {
		floats.Scale(1/m.largest, m.ranges)
	}
	m.grouping = byRows(m)
	return m, nil
}

// fitted is f(ε), with the constants of the released code.
func fitted(epsilon float64) float64 {
	if epsilon < 2 {
		return epsilon
	}
	return 0.01658160142016071*math.Log(epsilon*19.064721649556482-38.1294334077209) + 9.311083811697406
}

// scale is the scale of the widest coordinate.
func (m *rantext) scale(epsilon float64) float64 { return min(m.largest/fitted(epsilon), 1e150) }

// sortedRow is all words by their distance from one word, and the distances.
type sortedRow struct {
	order     []WordID
	distances []float64
}

func (m *rantext) ownEpsilon() float64            { return m.settings.Epsilon }
func (m *rantext) kept(WordID) *sortedRow         { return nil }
func (m *rantext) rowsAtOnce() int                { return 1 }
func (m *rantext) builder() rowBuilder[sortedRow] { return m }
func (m *rantext) release(rowBuilder[sortedRow])  {}

func (m *rantext) build(keys []rowKey, use func(i int, row *sortedRow)) {
	for i, key := range keys {
		order, distances := orderFrom(m.space, key.word)
		use(i, &sortedRow{order, distances})
	}
}

// random draws D, divided by the scale, and the seed of the draws that follow.
func (m *rantext) random(rng *rand.Rand) wordRandom {
	var square float64
	for _, r := range m.ranges {
		x := r * rng.ExpFloat64()
		square += x * x
	}
	return wordRandom{math.Float64bits(math.Sqrt(square)), rng.Uint64(), rng.Uint64()}
}

// within returns how many of the sorted distances are below a radius; distances
// of 0 always count.
func within(sorted []float64, radius float64) int {
	return max(sort.SearchFloat64s(sorted, radius), sort.Search(len(sorted), func(i int) bool { return sorted[i] > 0 }))
}

func (m *rantext) draw(row *sortedRow, key rowKey, random wordRandom) WordID {
	rng := rand.New(rand.NewPCG(random[1], random[2]))
	radius := math.Float64frombits(random[0]) * m.scale(key.epsilon)
	list := row.distances[:within(row.distances, radius)]
	weight := func(d float64) float64 { return listWeight(d, radius, key.epsilon) }
	if key.epsilon <= 6 { // weights are in [e^{−ε/2}, 1]: at most 20 tries on average
		for {
			i := rng.IntN(len(list))
			if rng.Float64() < weight(list[i]) {
				return row.order[i]
			}
		}
	}
	var sum float64
	for _, d := range list {
		sum += weight(d)
	}
	u := rng.Float64() * sum
	for i, d := range list {
		if u -= weight(d); u < 0 {
			return row.order[i]
		}
	}
	return row.order[0] // by rounding only
}

// listWeight is the weight of a candidate at distance d, up to a common factor.
func listWeight(d, radius, epsilon float64) float64 {
	if d == 0 {
		return 1
	}
	return math.Exp(-epsilon / 2 * d / radius)
}

const (
	radiusCells = 1 << 15 // of the law of D²
	radiusBins  = 512     // least number of bins it is gathered into
	// radiusRounding bounds what the transforms add to any probability.
	radiusRounding = 1e-9
)

// radiusLaw bounds the law of S = Σ(r_j·E_j)², E_j exponential of mean 1, so
// that D is √S times the scale: with probability mass[i], S lies in
// [low[i], high[i]].
type radiusLaw struct{ mass, low, high []float64 }

type radiusKey struct{}

// radii computes the law once per space. It does not depend on ε.
func (m *rantext) radii() *radiusLaw {
	return embeddings.Once(m.space, radiusKey{}, func() *radiusLaw { return lawOfSquares(m.ranges) })
}

// lawOfSquares rounds each of the p terms down to a grid of width h, so their
// sum is at most p·h too small, and adds their laws exactly, by transforms.
// Everything beyond the end of the grid goes into one last bin.
func lawOfSquares(ranges []float64) *radiusLaw {
	var mean, variance float64
	for _, r := range ranges {
		mean += 2 * r * r // E(r·E)² and its variance, E E⁴ − (E E²)² = 24 − 4
		variance += 20 * r * r * r * r
	}
	if mean == 0 { // all vectors are equal
		return &radiusLaw{mass: []float64{1}, low: []float64{0}, high: []float64{0}}
	}
	h := (mean + 12*math.Sqrt(variance)) / radiusCells
	sum := make([]float64, 2*radiusCells) // room for one sum of two
	sum[0] = 1
	term := make([]float64, 2*radiusCells)
	transform := fourier.NewFFT(2 * radiusCells)
	var a, b []complex128
	slack := 0.0
	for _, r := range ranges {
		if r == 0 {
			continue
		}
		slack += h
		clear(term)
		below := 0.0
		for i := range radiusCells {
			f := -math.Expm1(-math.Sqrt(float64(i+1)*h) / r) // Pr[(r·E)² < (i+1)·h]
			term[i], below = f-below, f
		}
		a = transform.Coefficients(a, sum)
		b = transform.Coefficients(b, term)
		for i := range a {
			a[i] *= b[i] / complex(2*radiusCells, 0)
		}
		sum = transform.Sequence(sum, a)
		for i, p := range sum {
			if i >= radiusCells || p < 0 {
				sum[i] = 0
			}
		}
	}
	law := &radiusLaw{}
	const most = 1.0 / radiusBins
	width := math.Sqrt(radiusCells*h) / radiusBins // of a bin, in D
	for i := 0; i < radiusCells; {
		start, mass := i, 0.0
		limit := math.Sqrt(float64(start)*h) + width
		for i < radiusCells && (i == start || mass+sum[i] <= most && math.Sqrt(float64(i+1)*h) <= limit) {
			mass += sum[i]
			i++
		}
		law.add(mass, float64(start)*h, float64(i-1)*h+slack)
	}
	law.add(1-floats.Sum(law.mass), radiusCells*h, math.Inf(1))
	return law
}

func (l *radiusLaw) add(mass, low, high float64) {
	if mass > 0 {
		l.mass, l.low, l.high = append(l.mass, mass), append(l.low, low), append(l.high, high)
	}
}

// bounds integrates over D. The weight e^{−(ε/2)d/D} of a candidate and the sum
// of all weights both grow with D, so over an interval of D the probability of
// a word lies between its weight at one end divided by the sum at the other.
func (m *rantext) bounds(word WordID) (low, high []float64) {
	n, epsilon := m.space.Len(), m.settings.Epsilon
	order, distances := orderFrom(m.space, word)
	law, scale := m.radii(), m.scale(epsilon)
	weights := func(dst []float64, square float64) (list []float64, sum float64) {
		radius := math.Sqrt(square) * scale
		list = dst[:within(distances, radius)]
		for i := range list {
			list[i] = listWeight(distances[i], radius, epsilon)
			sum += list[i]
		}
		return list, sum
	}
	least, most := make([]float64, n), make([]float64, n)
	a, b := make([]float64, n), make([]float64, n)
	for k, mass := range law.mass {
		near, nearSum := weights(a, law.low[k])
		far, farSum := weights(b, law.high[k])
		for i, x := range near {
			least[i] += mass * x / farSum
		}
		for i, x := range far {
			most[i] += mass * min(1, x/nearSum)
		}
	}
	low, high = make([]float64, n), make([]float64, n)
	for i, y := range order {
		low[y] = max(0, least[i]-radiusRounding)
		high[y] = min(1, most[i]+radiusRounding)
	}
	return low, high
}

// Distribution returns the middle of the proven bounds; AbsoluteError is the
// largest distance from them.
func (m *rantext) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(m.space.Vocabulary, word); err != nil {
		return Distribution{}, err
	}
	p, high := m.bounds(word)
	var d Distribution
	for y, low := range p {
		p[y] = (low + high[y]) / 2
		d.AbsoluteError = max(d.AbsoluteError, (high[y]-low)/2)
	}
	d.Probabilities = p
	return d, nil
}

// LogBounds returns the logarithms of the bounds.
func (m *rantext) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.space.Vocabulary, word); err != nil {
		return nil, nil, err
	}
	low, high = m.bounds(word)
	for y := range low {
		low[y], high[y] = math.Log(low[y]), math.Log(high[y])
	}
	return low, high, nil
}
