package mechanisms

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/stream"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "gumbel",
		Title:    "Truncated Gumbel",
		Source:   "Xu et al. 2021a, Algorithm 1",
		Metric:   "euclidean",
		Order:    60,
		Variants: []Variant{Proved, Released, AsRun},
		Parameters: []Parameter{{
			Name:     "start",
			Default:  "redraw",
			Fixed:    true,
			Variants: []string{string(Released)},
		}, {
			Name:     "extent",
			Default:  extentOfData,
			Variants: []string{string(AsRun)},
			Legal:    `"data set", "space", "agnews-2024" or "imdb-2024"`,
			Doc: "the largest and the smallest distance that set the noise: those that the study's code states for a " +
				"data set, by default the one at hand; space, also for any other data set, computes them",
		}},
		Drawn: true,
		New:   newGumbel,
	})
}

// truncatedGumbel draws k from a Poisson law truncated to [least, greatest] and
// returns argmin_j d_j + g_j over the k nearest words of w (w itself is the
// first), g_j i.i.d. Gumbel(0, b) truncated to [−Δ, Δ].
//
//   - Proved: k has mean parameter ln n and lies in [1, n]; Δ and Δ₀ are the
//     largest and the smallest positive distance of any two words;
//     α = (ε − 2(1+ln n)/Δ₀)/3, b = 2Δ/min{W₀(2αΔ), ln(αΔ₀)}, where αΔ₀ > 1.
//   - Released: parameter ln(n−1), k in [0, n−1], a word with k = 0 stays; Δ
//     and Δ₀ are those of one random word's distances; where α ≤ 0,
//     b = 2Δ/Re W₀(2αΔ), a complex W.
type truncatedGumbel struct {
	epsilon  float64
	released bool
	space    *embeddings.Space
	extent   extent
	poisson  truncatedPoisson
	// near holds the candidates of each word: w first except in AsRun, where a
	// word that shares the vector of w may come before it.
	near *neighborLists
}

// mechanism has the extent of m at every ε.
func (m truncatedGumbel) mechanism(s Settings, guarantee func(m *truncatedGumbel) Guarantee) (*Mechanism, error) {
	m.epsilon = s.Epsilon
	if err := m.checkEpsilon(s.Epsilon); err != nil {
		return nil, err
	}
	noise := gumbelNoise{scale: m.scale(s.Epsilon), bound: m.extent.largest}
	draw := func(w WordID, rng *rand.Rand) WordID {
		k := m.poisson.draw(rng)
		best := w
		bestCost := math.Inf(1)
		for _, c := range m.near.of(w, k) {
			if cost := c.Distance + noise.draw(rng); cost < bestCost {
				best = c.ID
				bestCost = cost
			}
		}
		return best
	}
	x := ByFormula(s, guarantee(&m), Formula{
		Vocabulary: m.space.Vocabulary,
		Draw:       draw,
		Prepare:    func(words []WordID) { m.near.search(words, m.poisson.most()) },
	})
	x.valid = m.checkEpsilon
	x.at = func(epsilon float64) (*Mechanism, error) {
		other := s
		other.Epsilon = epsilon
		return m.mechanism(other, guarantee)
	}
	return x, nil
}

// newGumbel sets the law of k and the extent by variant.
func newGumbel(env Environment, s Settings) (*Mechanism, error) {
	if s.Variant == AsRun {
		return newAsRunGumbel(env, s)
	}
	n := env.Space.Len()
	m := truncatedGumbel{space: env.Space, near: neighborsOf(env.Space, ownFirst)}
	var err error
	if s.Variant == Released {
		m.released = true
		m.poisson = newTruncatedPoisson(math.Log(float64(n-1)), 0, n-1)
		m.extent, err = m.drawExtent(env.Seed, s.Epsilon)
		if err != nil {
			return nil, err
		}
		return m.mechanism(s, func(*truncatedGumbel) Guarantee {
			return Guarantee{Reason: "the distances that set the noise are those of one random word, below its " +
				"smallest usable epsilon the scale comes from a complex number"}
		})
	}
	m.poisson = newTruncatedPoisson(math.Log(float64(n)), 1, n)
	m.extent, err = extentOf(env.Space)
	if err != nil {
		return nil, err
	}
	return m.mechanism(s, (*truncatedGumbel).provedGuarantee)
}

// provedGuarantee is the source's ε·d, unless counting candidates refutes it
// for this space. Let y be the word farthest from w. It is a candidate of w
// only if k = n, so Pr[M(w)=y] ≤ Pr[k=n], which falls like 1/n!, while
// Pr[M(y)=y] ≥ Pr[k=1]. The ratio must not exceed e^{ε·d(w,y)} ≤ e^{ε·Δ}.
func (m *truncatedGumbel) provedGuarantee() Guarantee {
	n := m.space.Len()
	needed := (m.poisson.logMass(1) - m.poisson.logMass(n)) / m.extent.largest
	if m.epsilon < needed {
		return Guarantee{Reason: fmt.Sprintf("the source's ε·d fails here: a word's farthest word needs k = n = "+
			"%d candidates, "+
			"which is rarer than any epsilon below %.4g allows", n, needed)}
	}
	return euclideanGuarantee(m.space, m.epsilon,
		"as stated by the source; whether far words are candidates often enough was checked for the farthest only")
}

// drawExtent returns Δ and Δ₀ of the distances of a random word. Where they give a
// noise scale that is not positive, the released package fails; here another
// word is drawn.
func (m truncatedGumbel) drawExtent(seed stream.Seed, epsilon float64) (extent, error) {
	n := m.space.Len()
	rng := seed.Derive("gumbel", "start").Rand()
	row := make([]float64, n)
	var last error
	for _, start := range rng.Perm(n) {
		distancesFrom(row, m.space, WordID(start))
		m.extent = extent{smallest: math.Inf(1)}
		for _, d := range row {
			if d > 0 {
				m.extent.smallest = min(m.extent.smallest, d)
				m.extent.largest = max(m.extent.largest, d)
			}
		}
		last = errNoDistance
		if m.extent.largest > 0 {
			last = m.checkEpsilon(epsilon)
		}
		if last == nil {
			return m.extent, nil
		}
	}
	return extent{}, fmt.Errorf("no start word will do: %w", last)
}

// checkEpsilon returns an *UndefinedError where no noise scale exists.
func (m *truncatedGumbel) checkEpsilon(epsilon float64) error {
	b := m.scale(epsilon)
	usable := b > 0 && !math.IsInf(b, 1)
	if m.released {
		if usable {
			return nil
		}
		return &UndefinedError{Reason: fmt.Sprintf("epsilon = %v: the noise scale of these distances is %.4g",
			epsilon, b)}
	}
	// αΔ₀ > 1. The scale must be finite as well, which rounding can prevent
	// within the last bits above the threshold.
	smallest := (2*(1+math.Log(float64(m.space.Len()))) + 3) / m.extent.smallest
	if epsilon > smallest && usable {
		return nil
	}
	return &UndefinedError{
		Reason:          fmt.Sprintf("epsilon = %v: must be > %.6g for this embedding", epsilon, smallest),
		SmallestEpsilon: smallest,
	}
}

// scale is b.
func (m *truncatedGumbel) scale(epsilon float64) float64 {
	delta := m.extent.largest
	delta0 := m.extent.smallest
	alpha := (epsilon - 2*(1+math.Log(float64(m.space.Len())))/delta0) / 3
	w := real(lambertW(2 * alpha * delta))
	if alpha*delta0 > 0 {
		w = min(w, math.Log(alpha*delta0))
	}
	return 2 * delta / w
}

// gumbelNoise is Gumbel(0, scale) truncated to [−bound, bound].
type gumbelNoise struct{ scale, bound float64 }

// cdf is the distribution function of the untruncated law, exp(−e^{−x/b}).
func (g gumbelNoise) cdf(x float64) float64 { return math.Exp(-math.Exp(-x / g.scale)) }

// draw inverts the distribution function between the bounds.
func (g gumbelNoise) draw(rng *rand.Rand) float64 {
	low := g.cdf(-g.bound)
	high := g.cdf(g.bound)
	u := high - (high-low)*rng.Float64() // in (low, high]
	x := -g.scale * math.Log(-math.Log(u))
	return min(max(x, -g.bound), g.bound)
}

// truncatedPoisson is Poisson(mean) conditioned on [least, greatest]. Values so
// far out that float64 rounds the distribution function to 1 are never drawn.
type truncatedPoisson struct {
	mean            float64
	least, greatest int
	masses          []float64 // of least, least+1, …
	cumulative      []float64
}

// newTruncatedPoisson makes the table of masses.
func newTruncatedPoisson(mean float64, least, greatest int) truncatedPoisson {
	p := truncatedPoisson{
		mean:     mean,
		least:    least,
		greatest: greatest,
	}
	if !(mean > 0) { // a vocabulary of one or two words: the law is a single point
		p.masses = []float64{1}
		p.cumulative = []float64{1}
		return p
	}
	// Up to a mean of ln n < 40 the terms neither over- nor underflow.
	var total float64
	for k := least; k <= greatest; k++ {
		mass := math.Exp(p.logTerm(k))
		if float64(k) > mean && mass < 1e-18*total {
			break
		}
		p.masses = append(p.masses, mass)
		total += mass
	}
	var sum float64
	for i := range p.masses {
		p.masses[i] /= total
		sum += p.masses[i]
		p.cumulative = append(p.cumulative, sum)
	}
	return p
}

// logTerm is ln(mean^k/k!).
func (p *truncatedPoisson) logTerm(k int) float64 {
	factorial, _ := math.Lgamma(float64(k) + 1)
	return float64(k)*math.Log(p.mean) - factorial
}

// logMass is the logarithm of Pr[k], also where the mass underflows.
func (p *truncatedPoisson) logMass(k int) float64 {
	if !(p.mean > 0) {
		return 0
	}
	return math.Log(p.masses[0]) + p.logTerm(k) - p.logTerm(p.least)
}

// most returns the largest k that is ever drawn.
func (p *truncatedPoisson) most() int { return p.least + len(p.masses) - 1 }

func (p *truncatedPoisson) draw(rng *rand.Rand) int {
	u := rng.Float64()
	i, _ := slices.BinarySearchFunc(p.cumulative, u, func(c, u float64) int {
		if c <= u {
			return -1
		}
		return 1
	})
	return p.least + min(i, len(p.masses)-1)
}
