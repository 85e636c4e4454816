package mechanisms

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
)

func init() {
	Register(Definition{
		Name:     "gumbel",
		Title:    "Truncated Gumbel",
		Source:   "Xu et al. 2021a, Algorithm 1",
		Metric:   "euclidean",
		Order:    60,
		Variants: []Variant{Proved, Released},
		Parameters: []Parameter{{
			Name: "start", Default: "redraw", Legal: `"redraw" or "error"`, Variants: []Variant{Released},
			Doc: "what happens when the random start word gives a noise scale that is not positive, " +
				"where the released package fails",
		}},
		New: newGumbel,
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
	settings  Settings
	guarantee Guarantee
	space     *embeddings.Space
	extent    extent
	poisson   truncatedPoisson
	// near holds the candidates of each word, computed on first use.
	near []atomic.Pointer[[]nearest.Neighbor]
	grid func() *gumbelGrid // of the integration, computed on first use
}

func newGumbel(env Environment, s Settings) (Mechanism, error) {
	n := env.Space.Len()
	m := &truncatedGumbel{settings: s, space: env.Space, near: make([]atomic.Pointer[[]nearest.Neighbor], n)}
	m.grid = sync.OnceValue(func() *gumbelGrid {
		return newGumbelGrid(gumbelNoise{scale: m.scale(s.Epsilon), bound: m.extent.largest})
	})
	if s.Variant == Released {
		m.poisson = newTruncatedPoisson(math.Log(float64(n-1)), 0, n-1)
		m.guarantee = Guarantee{Reason: "the distances that set the noise are those of one random word, " +
			"below its smallest usable epsilon the scale comes from a complex number"}
		return m, m.drawStart(env)
	}
	var err error
	if m.extent, err = extentOf(env.Space); err != nil {
		return nil, err
	}
	m.poisson = newTruncatedPoisson(math.Log(float64(n)), 1, n)
	if err := m.CheckEpsilon(s.Epsilon); err != nil {
		return nil, err
	}
	m.guarantee = m.provedGuarantee()
	return m, nil
}

// provedGuarantee is the source's ε·d, unless counting candidates refutes it
// for this space. Let y be the word farthest from w. It is a candidate of w
// only if k = n, so Pr[M(w)=y] ≤ Pr[k=n], which falls like 1/n!, while
// Pr[M(y)=y] ≥ Pr[k=1]. The ratio must not exceed e^{ε·d(w,y)} ≤ e^{ε·Δ}.
func (m *truncatedGumbel) provedGuarantee() Guarantee {
	n := m.space.Len()
	needed := (m.poisson.logMass(1) - m.poisson.logMass(n)) / m.extent.largest
	if m.settings.Epsilon < needed {
		return Guarantee{Reason: fmt.Sprintf("the source's ε·d fails here: a word's farthest word needs k = n = "+
			"%d candidates, "+
			"which is rarer than any epsilon below %.4g allows", n, needed)}
	}
	return euclideanGuarantee(m.space, m.settings.Epsilon,
		"as stated by the source; whether far words are candidates often enough was checked for the farthest only")
}

// drawStart sets Δ and Δ₀ from the distances of a random word.
func (m *truncatedGumbel) drawStart(env Environment) error {
	policy := m.settings.Parameters["start"].(string)
	if err := check.OneOf("start", policy, "redraw", "error"); err != nil {
		return err
	}
	n := env.Space.Len()
	rng := env.Seed.Derive("gumbel", "start").Rand()
	row := make([]float64, n)
	var last error
	for _, start := range rng.Perm(n) {
		distancesFrom(row, env.Space, WordID(start))
		m.extent = extent{smallest: math.Inf(1)}
		for _, d := range row {
			if d > 0 {
				m.extent.smallest = min(m.extent.smallest, d)
				m.extent.largest = max(m.extent.largest, d)
			}
		}
		if m.extent.largest == 0 {
			last = errNoDistance
		} else {
			last = m.CheckEpsilon(m.settings.Epsilon)
		}
		if last == nil {
			return nil
		}
		if policy == "error" {
			return fmt.Errorf("start word %q: %w", env.Space.Vocabulary.Word(WordID(start)), last)
		}
	}
	return fmt.Errorf("no start word will do: %w", last)
}

// CheckEpsilon returns an *UndefinedError where no noise scale exists.
func (m *truncatedGumbel) CheckEpsilon(epsilon float64) error {
	if m.settings.Variant == Released {
		if b := m.scale(epsilon); !(b > 0) || math.IsInf(b, 1) {
			return &UndefinedError{Reason: fmt.Sprintf("epsilon = %v: the noise scale of this start word is %.4g",
				epsilon, b)}
		}
		return nil
	}
	// αΔ₀ > 1. The scale must be finite as well, which rounding can prevent
	// within the last bits above the threshold.
	smallest := (2*(1+math.Log(float64(m.space.Len()))) + 3) / m.extent.smallest
	if b := m.scale(epsilon); epsilon <= smallest || !(b > 0) || math.IsInf(b, 1) {
		return &UndefinedError{
			Reason:          fmt.Sprintf("epsilon = %v: must be > %.6g for this embedding", epsilon, smallest),
			SmallestEpsilon: smallest,
		}
	}
	return nil
}

// scale is b.
func (m *truncatedGumbel) scale(epsilon float64) float64 {
	delta, delta0 := m.extent.largest, m.extent.smallest
	alpha := (epsilon - 2*(1+math.Log(float64(m.space.Len())))/delta0) / 3
	w := real(lambertW(2 * alpha * delta))
	if alpha*delta0 > 0 {
		w = min(w, math.Log(alpha*delta0))
	}
	return 2 * delta / w
}

func (m *truncatedGumbel) Settings() Settings                 { return m.settings }
func (m *truncatedGumbel) Guarantee() Guarantee               { return m.guarantee }
func (m *truncatedGumbel) Vocabulary() *embeddings.Vocabulary { return m.space.Vocabulary }

func (m *truncatedGumbel) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	noise := gumbelNoise{scale: m.scale(m.settings.Epsilon), bound: m.extent.largest}
	for i, w := range src {
		if epsilons != nil {
			noise.scale = m.scale(epsilons[i])
		}
		k := m.poisson.draw(rng)
		best, bestCost := w, math.Inf(1)
		for _, c := range m.candidates(w, k) {
			if cost := c.Distance + noise.draw(rng); cost < bestCost {
				best, bestCost = c.ID, cost
			}
		}
		dst[i] = best
	}
}

// candidates are the k words nearest to w, w first, then by distance and id.
func (m *truncatedGumbel) candidates(w WordID, k int) []nearest.Neighbor {
	if kept := m.near[w].Load(); kept != nil {
		return (*kept)[:k]
	}
	count := m.poisson.most()
	// Ask for one more: where many words share the vector of w, w itself may
	// not be among the first.
	found := make([]nearest.Neighbor, min(count+1, m.space.Len()))
	nearest.Of(m.space).Search(found, m.space.Vector(w), len(found))
	own := slices.IndexFunc(found, func(c nearest.Neighbor) bool { return c.ID == w })
	if own < 0 {
		own = len(found) - 1
	}
	copy(found[1:own+1], found[:own])
	found[0] = nearest.Neighbor{ID: w}
	found = slices.Clip(found[:min(count, len(found))])
	m.near[w].Store(&found)
	return found[:k]
}

// gumbelNoise is Gumbel(0, scale) truncated to [−bound, bound].
type gumbelNoise struct{ scale, bound float64 }

// cdf is the distribution function of the untruncated law, exp(−e^{−x/b}).
func (g gumbelNoise) cdf(x float64) float64 { return math.Exp(-math.Exp(-x / g.scale)) }

// draw inverts the distribution function between the bounds.
func (g gumbelNoise) draw(rng *rand.Rand) float64 {
	low, high := g.cdf(-g.bound), g.cdf(g.bound)
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

func newTruncatedPoisson(mean float64, least, greatest int) truncatedPoisson {
	p := truncatedPoisson{mean: mean, least: least, greatest: greatest}
	if !(mean > 0) { // a vocabulary of one or two words: the law is a single point
		p.masses, p.cumulative = []float64{1}, []float64{1}
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

// logTail bounds ln Pr[K ≥ k] from above, by 0 up to the mean and by a
// geometric series above it. Above greatest it is −Inf.
func (p *truncatedPoisson) logTail(k int) float64 {
	switch {
	case k > p.greatest:
		return math.Inf(-1)
	case float64(k+1) <= p.mean || k <= p.least:
		return 0
	}
	return min(0, p.logMass(k)-math.Log1p(-max(0, p.mean)/float64(k+1)))
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
	candidates := m.candidates(word, m.poisson.most())
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
	order := make([]WordID, n)
	distances := make([]float64, n)
	distancesFrom(distances, m.space, word)
	distances[word] = -1 // itself first
	for y := range n {
		order[y] = WordID(y)
		low[y] = math.Log(max(0, p[y]-errors[y]))
		high[y] = math.Log(min(1, p[y]+errors[y]))
	}
	slices.SortFunc(order, func(a, b WordID) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	for i, y := range order[1:] {
		high[y] = min(high[y], m.poisson.logTail(i+2))
	}
	return low, high, nil
}
