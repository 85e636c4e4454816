package privatize

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Probe is the effect of a mechanism on a sample of the words of a text.
type Probe struct {
	Words int `json:"words"` // in the sample
	// Unchanged is the mean probability that a word stays the same.
	Unchanged float64 `json:"unchanged"`
	// Support is the median over the words of 2^H, the effective number of
	// outputs. Where Draws is not 0, it is computed from that many draws and
	// cannot exceed it.
	Support float64 `json:"effective_support"`
	Draws   int     `json:"draws"` // 0: distributions are exact
	Odds    *Odds   `json:"odds,omitempty"`
}

// Odds is what the guarantee means for two words: the odds of one against the
// other, given the output, change by a factor of at most e^(ε·d).
type Odds struct {
	// AnyTwo is ε·d for the two words of the vocabulary that are farthest from
	// each other, or a bound on it (see mechanisms.DiameterBound); nil where none
	// holds for every pair.
	AnyTwo *float64 `json:"any_two_words_log,omitempty"`
	Worst  string   `json:"worst_case,omitempty"` // why none holds
	// Nearest is the median of ε·d between a word of the text and its nearest
	// neighbour, over words where something is guaranteed for both; nil where
	// there are none.
	Nearest *float64 `json:"nearest_neighbours_log,omitempty"`
}

const (
	probeWords = 48  // words of the text
	probeDraws = 100 // per word, where distributions are not known
)

// NewProbe examines a sample of known, the words of a text in order. It uses
// epsilon or, if that is 0, the mechanism's own epsilon.
func NewProbe(ctx context.Context, m *mechanisms.Mechanism, space *embeddings.Space, known []mechanisms.WordID,
	epsilon float64, seed stream.Seed) (*Probe, error) {
	if len(known) == 0 {
		return nil, nil
	}
	at, err := m.At(cmp.Or(epsilon, m.Settings().Epsilon))
	if err != nil {
		return nil, err
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
			d, err := mechanisms.Outputs(ctx, at, w, probeDraws, seed.Derive("probe").At(uint64(i)))
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

// entropy returns the entropy of a distribution in bits.
func entropy(p []float64) (h float64) {
	for _, x := range p {
		if x > 0 {
			h -= x * math.Log2(x)
		}
	}
	return h
}

// oddsOf returns nil where nothing is guaranteed.
func oddsOf(m *mechanisms.Mechanism, space *embeddings.Space, sample []mechanisms.WordID) *Odds {
	g := m.Guarantee()
	if !g.Holds() || g.Distance == nil {
		return nil
	}
	diameter, err := mechanisms.DiameterBound(space)
	if err != nil {
		return nil
	}
	o := &Odds{}
	var most float64
	if most, o.Worst = mechanisms.WorstCase(g, diameter); !math.IsInf(most, 1) {
		o.AnyTwo = &most
	}
	var near []float64
	found := make([]nearest.Neighbor, 1)
	for _, w := range sample {
		if int(w) >= space.Len() {
			continue // a word that only a thesaurus knows
		}
		nearest.Of(space).SearchExcluding(found, space.Vector(w), 1, []embeddings.WordID{w})
		if found[0].ID != embeddings.Unknown && g.Promises(w, found[0].ID) {
			near = append(near, g.Epsilon*g.Distance(w, found[0].ID))
		}
	}
	if len(near) > 0 {
		slices.Sort(near)
		o.Nearest = &near[len(near)/2]
	}
	return o
}

// Notice holds what a user should know before the first word is written.
type Notice struct {
	Seeded   bool // the seed is known
	KeepCase bool
	Policy   mechanisms.Policy
	Unknown  float64 // share of the words of the text
}

// unchangedWarning is the share of unchanged words above which a text counts as
// published.
const unchangedWarning = 0.5

// Warnings returns one sentence for each thing that looks protected but is not.
// p may be nil.
func (n Notice) Warnings(g mechanisms.Guarantee, p *Probe) []string {
	out := mechanisms.TextOptions{Policy: n.Policy}.Warnings(g)
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if p != nil && p.Unchanged > unchangedWarning {
		add("about %.0f%% of the words come back unchanged: this publishes most of the text; take a smaller epsilon",
			100*p.Unchanged)
	}
	if n.Policy == mechanisms.Keep && n.Unknown > 0 {
		add("policy keep publishes %.0f%% of the words, those outside the vocabulary: names, numbers, addresses",
			100*n.Unknown)
	}
	if n.Unknown > unchangedWarning/2 && n.Policy != mechanisms.Keep {
		add("%.0f%% of the words are not in the vocabulary: are these the right vectors for the text?", 100*n.Unknown)
	}
	if n.Seeded {
		add("anyone who knows the seed can undo the protection: leave --seed out unless the text is public")
	}
	if n.KeepCase {
		add("case kept: which words are capitalised, and so the positions of names, is not protected")
	}
	return out
}
