package privatize

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Probe is what a mechanism does to a sample of the words of a text.
type Probe struct {
	Words int `json:"words"` // looked at, drawn from the text
	// Unchanged is the mean probability of a word to stay what it is.
	Unchanged float64 `json:"unchanged"`
	// Support is the median over the words of 2^H, the effective number of
	// outputs; where Draws is not 0, that of so many draws, and so never more.
	Support float64 `json:"effective_support"`
	Draws   int     `json:"draws"` // 0: distributions are exact
	Odds    *Odds   `json:"odds,omitempty"`
}

// Odds are what the promise says about two words: observing the output, the
// odds of one against the other may change by a factor of e^(ε·d).
type Odds struct {
	// AnyTwo is ε·d for the two words of the vocabulary that are farthest from
	// each other; an upper bound of it where AtMost is set.
	AnyTwo float64 `json:"any_two_words_log"`
	AtMost bool    `json:"any_two_words_is_bound,omitempty"`
	// Nearest is the median of ε·d between a word of the text and its nearest
	// neighbour, NaN-free: 0 words give no Odds.
	Nearest float64 `json:"nearest_neighbours_log"`
}

const (
	probeWords = 48  // words of the text
	probeDraws = 100 // of each, where distributions are not known
)

// NewProbe looks at a sample of known, the words of a text as they come, each
// with the mechanism's own epsilon or, if it is not 0, with epsilon.
func NewProbe(m mechanisms.Mechanism, space *embeddings.Space, known []mechanisms.WordID, epsilon float64, seed stream.Seed) (*Probe, error) {
	if len(known) == 0 {
		return nil, nil
	}
	rng := seed.Derive("probe").Rand()
	sample := make([]mechanisms.WordID, min(probeWords, len(known)))
	for i := range sample {
		sample[i] = known[rng.IntN(len(known))]
	}
	p := &Probe{Words: len(sample)}
	support := make([]float64, len(sample))
	done := map[mechanisms.WordID][2]float64{}
	for i, w := range sample {
		both, ok := done[w]
		if !ok {
			var d mechanisms.Distribution
			var err error
			exact, ok := m.(mechanisms.Distributor)
			switch {
			case epsilon != 0:
				d = draw(m, w, epsilon, seed.Derive("probe").At(uint64(i)))
			case ok:
				d, err = exact.Distribution(w)
			default:
				d, err = mechanisms.MonteCarlo(m, w, probeDraws, seed.Derive("probe").At(uint64(i)))
			}
			if err != nil {
				return nil, err
			}
			p.Draws = max(p.Draws, d.Samples)
			both = [2]float64{d.Probabilities[w], math.Exp2(entropy(d.Probabilities))}
			done[w] = both
		}
		p.Unchanged += both[0] / float64(len(sample))
		support[i] = both[1]
	}
	slices.Sort(support)
	p.Support = support[len(support)/2]
	p.Odds = oddsOf(m, space, sample)
	return p, nil
}

// draw is mechanisms.MonteCarlo with another epsilon than the mechanism's.
func draw(m mechanisms.Mechanism, w mechanisms.WordID, epsilon float64, seed stream.Seed) mechanisms.Distribution {
	words, epsilons := make([]mechanisms.WordID, probeDraws), make([]float64, probeDraws)
	for i := range words {
		words[i], epsilons[i] = w, epsilon
	}
	if b, ok := m.(mechanisms.Batcher); ok {
		both := [][]mechanisms.WordID{words}
		b.PrivatizeBatch(both, both, [][]float64{epsilons}, []*rand.Rand{seed.Rand()})
	} else {
		m.Privatize(words, words, epsilons, seed.Rand())
	}
	d := mechanisms.Distribution{Probabilities: make([]float64, m.Vocabulary().Len()), Samples: probeDraws}
	for _, y := range words {
		d.Probabilities[y] += 1 / float64(probeDraws)
	}
	return d
}

// entropy is that of a distribution, in bits.
func entropy(p []float64) (h float64) {
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log2(x)
		}
	}
	return h
}

// oddsOf returns nil where nothing is promised.
func oddsOf(m mechanisms.Mechanism, space *embeddings.Space, sample []mechanisms.WordID) *Odds {
	g := m.Guarantee()
	if !g.Holds() || g.Distance == nil {
		return nil
	}
	o := &Odds{}
	o.AnyTwo, o.AtMost = farthest(g, space.Len())
	o.AnyTwo *= g.Epsilon
	var near []float64
	found := make([]nearest.Neighbor, 1)
	for _, w := range sample {
		if int(w) >= space.Len() {
			continue // a word that only a thesaurus knows
		}
		nearest.Of(space).SearchExcluding(found, space.Vector(w), 1, []embeddings.WordID{w})
		if found[0].ID != embeddings.Unknown {
			near = append(near, g.Epsilon*g.Distance(w, found[0].ID))
		}
	}
	if len(near) == 0 {
		return nil
	}
	slices.Sort(near)
	o.Nearest = near[len(near)/2]
	return o
}

// pairLimit bounds the search for the two words that are farthest apart.
const pairLimit = 1 << 20

// farthest returns the largest distance of two of n words, or, where too many
// pairs come into question, an upper bound. It visits words by their distance r
// from the first, farthest first: d(a,b) ≤ r(a) + r(b) leaves few pairs.
func farthest(g mechanisms.Guarantee, n int) (largest float64, atMost bool) {
	if g.Metric == "discrete" {
		return 1, false
	}
	radius := make([]float64, n)
	order := make([]mechanisms.WordID, n)
	for id := range order {
		order[id] = mechanisms.WordID(id)
		radius[id] = g.Distance(0, order[id])
	}
	slices.SortStableFunc(order, func(a, b mechanisms.WordID) int {
		switch {
		case radius[a] > radius[b]:
			return -1
		case radius[a] < radius[b]:
			return 1
		}
		return 0
	})
	const slack = 1 + 1e-9 // for the rounding of radii
	pairs := 0
	for i, a := range order {
		if 2*radius[a]*slack < largest {
			break
		}
		for _, b := range order[i+1:] {
			if (radius[a]+radius[b])*slack < largest {
				break
			}
			if pairs++; pairs > pairLimit {
				return max(largest, radius[order[0]]+radius[order[1]]), true
			}
			largest = max(largest, g.Distance(a, b))
		}
	}
	return largest, false
}

// Factor writes e^x for people: 3.2, 1.7e+05, 10^434.
func Factor(x float64) string {
	if x < 300 {
		return fmt.Sprintf("%.3g", math.Exp(x))
	}
	return fmt.Sprintf("10^%.0f", x/math.Ln10)
}

// Notice is what a user should know before the first word is written.
type Notice struct {
	Seeded   bool // the seed is known
	KeepCase bool
	Policy   mechanisms.Policy
	Unknown  float64 // share of the words of the text
	Weighted bool    // words have weights in a budget
}

// unchangedWarning is the share of words from which on a text counts as
// published.
const unchangedWarning = 0.5

// Warnings say in one sentence each what is not protected although it looks so.
// p may be nil.
func (n Notice) Warnings(m mechanisms.Mechanism, p *Probe) []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if g := m.Guarantee(); !g.Holds() {
		add("nothing is guaranteed: %s", g.Reason)
	}
	if p != nil && p.Unchanged > unchangedWarning {
		add("about %.0f%% of the words come back unchanged: this publishes most of the text; take a smaller epsilon", 100*p.Unchanged)
	}
	if n.Weighted {
		add("weights depend on the words: the promise holds only %s", WeightedConditions)
	}
	if n.Policy == mechanisms.Keep {
		add("policy keep publishes every word outside the vocabulary as it stands: names, numbers, addresses")
	}
	if n.Unknown > unchangedWarning/2 && n.Policy != mechanisms.Keep {
		add("%.0f%% of the words are not in the vocabulary: are these the right vectors for the text?", 100*n.Unknown)
	}
	if n.Seeded {
		add("whoever knows the seed can undo the protection: leave --seed out unless the text is public")
	}
	if n.KeepCase {
		add("case kept: which words are capitalised, and so where names stand, is not protected")
	}
	return out
}
