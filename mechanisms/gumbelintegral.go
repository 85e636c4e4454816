package mechanisms

import (
	"cmp"
	"math"
	"slices"
)

// gumbelCells is the number of cells of the numerical integration.
const gumbelCells = 1 << 15

// Distribution integrates over the winner's cost. Given k, candidate j wins
// at cost x when all others cost more:
//
//	Pr[j] = ∫ T_j(x) dF_j(x),  T_j(x) = Σ_{k>j} Pr[k] · Π_{i<k, i≠j} S_i(x)
//
// with F_j the distribution function of d_j + g_j and S_i = 1 − F_i. T_j never
// increases, so on each cell of a grid its values at the two ends bound the
// integral: the result is their mean, AbsoluteError half their difference,
// summed over cells. The cells are quantiles of the input word's own cost.
func (m *truncatedGumbel) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(m.space.Vocabulary, word); err != nil {
		return Distribution{}, err
	}
	p, errors := m.integrate(word)
	return Distribution{Probabilities: p, AbsoluteError: slices.Max(errors)}, nil
}

// gumbelGrid holds the ends of the cells: costs x, from −bound to bound, and
// e^{−x/b}, which the distribution of every candidate is computed from. It is
// shared by all words.
type gumbelGrid struct {
	noise     gumbelNoise
	low, high float64 // distribution function at the bounds
	x, decay  []float64
}

func newGumbelGrid(noise gumbelNoise) *gumbelGrid {
	g := &gumbelGrid{
		noise: noise, low: noise.cdf(-noise.bound), high: noise.cdf(noise.bound),
		x: make([]float64, gumbelCells+1), decay: make([]float64, gumbelCells+1),
	}
	for cell := range g.x {
		u := g.low + (g.high-g.low)*float64(cell)/gumbelCells
		g.x[cell] = min(max(-noise.scale*math.Log(-math.Log(u)), -noise.bound), noise.bound)
		g.decay[cell] = math.Exp(-g.x[cell] / noise.scale)
	}
	return g
}

// gumbelCandidate is one of the words that compete, as the integration sees it.
type gumbelCandidate struct {
	distance float64
	growth   float64 // e^{d/b}: F(x) = exp(−e^{−x/b}·e^{d/b}) before truncation
	mass     float64 // Pr[k = its rank]
	// at the right end of a cell and at the left: F, and T of Distribution
	f, before, tail, tailBefore float64
	through                     float64 // Π of S over the nearer ones
	probability, err            float64
}

// leastCandidate is the probability below which the candidates beyond a rank
// are not integrated: they cannot win more often than they compete. The errors'
// allowance for rounding covers it.
const leastCandidate = 1e-13

// integrate returns the probabilities of all words and their errors.
func (m *truncatedGumbel) integrate(word WordID) (probabilities, errors []float64) {
	probabilities = make([]float64, m.space.Len())
	errors = make([]float64, m.space.Len())
	for y := range errors {
		errors[y] = 1e-12 // rounding
	}
	candidates := m.near.of(word)
	if len(candidates) == 0 { // released, two words: k is always 0
		probabilities[word] = 1
		return probabilities, errors
	}
	grid := m.grid()
	noise, low, scale := grid.noise, grid.low, 1/(grid.high-grid.low)
	mass := make([]float64, len(candidates)+1) // of k
	for i, p := range m.poisson.masses {
		mass[min(m.poisson.least+i, len(candidates))] += p
	}
	probabilities[word] += mass[0]
	count, rest := len(candidates), 0.0
	for count > 1 && rest+mass[count] < leastCandidate {
		rest += mass[count]
		count--
	}
	all := make([]gumbelCandidate, count)
	for j := range all {
		d := candidates[j].Distance
		all[j] = gumbelCandidate{distance: d, growth: math.Exp(d / noise.scale), mass: mass[j+1]}
	}
	for cell, x := range grid.x {
		decay, product := grid.decay[cell], 1.0
		// The exponent is computed in one piece where its factors would leave
		// the range of float64, and in the last cell, where rounding decides
		// whether S is 0.
		whole := !(noise.bound/noise.scale < 300) || cell == gumbelCells
		for j := range all {
			c := &all[j]
			c.before, c.tailBefore = c.f, c.tail
			var f float64
			switch {
			case x-c.distance <= -noise.bound:
			case whole:
				f = (noise.cdf(x-c.distance) - low) / (grid.high - low)
			default:
				f = (math.Exp(-decay*c.growth) - low) * scale
			}
			if f < 0 {
				f = 0
			} else if f > 1 {
				f = 1
			}
			c.f, c.through = f, product
			product *= 1 - f
		}
		// T_j = Π_{i<j} S_i · (Pr[j+1] + S_{j+1}·(Pr[j+2] + …)), ranks from 0.
		// Where S_j is 0, the bound T_j ≥ 0 is enough.
		sum := 0.0
		for j := len(all) - 1; j >= 0; j-- {
			c := &all[j]
			sum += c.mass
			c.tail = c.through * sum
			s := 1 - c.f
			if s == 0 {
				c.tail = 0
			}
			sum *= s
		}
		if cell == 0 {
			continue
		}
		for j := range all {
			c := &all[j]
			weight := (c.f - c.before) / 2
			c.probability += weight * (c.tail + c.tailBefore)
			c.err += weight * math.Abs(c.tailBefore-c.tail)
		}
	}
	for j, c := range all {
		probabilities[candidates[j].ID] += c.probability
		errors[candidates[j].ID] += c.err
	}
	return probabilities, errors
}

// LogBounds combines the integration with a bound that holds without it: the
// r-th nearest word of w is a candidate only if k ≥ r.
func (m *truncatedGumbel) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.space.Vocabulary, word); err != nil {
		return nil, nil, err
	}
	n := m.space.Len()
	p, errors := m.integrate(word)
	low, high = make([]float64, n), make([]float64, n)
	order := m.vocabulary.IDs()
	distances := make([]float64, n)
	distancesFrom(distances, m.space, word)
	if m.near.ownFirst {
		distances[word] = -1 // itself first
	}
	for y := range n {
		low[y] = math.Log(max(0, p[y]-errors[y]))
		high[y] = math.Log(min(1, p[y]+errors[y]))
	}
	slices.SortFunc(order, func(a, b WordID) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	for i, y := range order {
		if y != word {
			high[y] = min(high[y], m.poisson.logTail(i+1))
		}
	}
	return low, high, nil
}
