package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "rank-fix",
		Title:    "Rank fix",
		Source:   "Asghar et al. 2026 (PoPETs), §6",
		Metric:   "euclidean",
		Order:    90,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{Name: "base", Default: "cmp", Fixed: true},
			{
				Name:    "c",
				Default: 0.04,
				Legal:   "> 0 and finite",
				Valid:   params.Strictly(0, math.Inf(1)),
				Doc:     "decay: the r-th nearest word of the base's output is returned with probability ∝ exp(-c·ε·r)",
			},
		},
		Drawn:   true,
		Chooses: true,
		New:     newRankFix,
	})
}

// newRankFix builds the post-processing that corrects the curse of
// dimensionality: let x* be the word that CMP, the base mechanism, returns; return
// the r-th nearest word of x* (r = 0 is x* itself, ties by id) with probability
// ∝ e^{−c·ε·r}, r = 0 … n−1. The source gives c = 0.04 for GloVe at 300
// dimensions. The guarantee is that of the base mechanism.
func newRankFix(env Environment, s Settings) (*Mechanism, error) {
	g := euclideanGuarantee(env.Space, s.Epsilon, "the rank is drawn from the output of CMP alone, which is "+
		"post-processing: the noise is ε·d-private and the nearest word is post-processing")
	m := ByNoise(s, g, Noise{Space: env.Space})
	fix := newRankSampler(m.sampler, env.Space, s.Parameters["c"].(float64)*s.Epsilon)
	m.sampler = fix
	m.choices = fix.choices
	return m, nil
}

// rankSampler replaces the outputs of a base sampler by a word near to each.
type rankSampler struct {
	base  sampler
	space *embeddings.Space
	decay float64 // c·ε: the r-th nearest has a weight of e^{−decay·r}
	near  *neighborLists
	count int // of neighbours stored per word at this decay
}

// keptRanks is the number of neighbours stored per word at most; farther ones are
// searched for each time.
const keptRanks = 256

func newRankSampler(base sampler, space *embeddings.Space, decay float64) *rankSampler {
	// Ranks beyond e^-42 are never drawn, as a uniform number has 53 bits.
	count := int(min(keptRanks, math.Exp2(math.Ceil(math.Log2(1+42/decay)))))
	return &rankSampler{base, space, decay, neighborsOf(space, ownFirst), count}
}

func (m *rankSampler) whole() bool { return false }

// draw searches for the words of all documents together. The ranks of a document
// are drawn after its noise.
func (m *rankSampler) draw(ctx context.Context, documents []document, workers int) error {
	if err := m.base.draw(ctx, documents, workers); err != nil {
		return err
	}
	m.move(documents)
	return nil
}

// choices are the words nearest to what the base returned. Beyond those, a drawn word
// stands for all.
func (m *rankSampler) choices(words []WordID, rng *rand.Rand) Choices {
	stars := slices.Clone(words)
	_ = m.base.draw(context.Background(), []document{{stars, rng}}, 1) // only a cancelled context fails
	outputs := slices.Clone(stars)
	m.move([]document{{outputs, rng}})
	m.near.search(stars, m.count)
	p := make([]float64, min(m.count, m.space.Len()))
	sum := 0.0
	for r := range p {
		p[r] = math.Exp(-m.decay * float64(r))
		sum += p[r]
	}
	return func(i int, take func(WordID, float64)) {
		near := m.near.of(stars[i], m.count)
		if !slices.ContainsFunc(near, func(a nearest.Neighbor) bool {
			return a.ID == outputs[i]
		}) {
			take(outputs[i], 1)
			return
		}
		for r := 0; r < len(near) && p[r] > 1e-18; r++ { // the rest is rounding
			take(near[r].ID, p[r]/sum)
		}
	}
}

// rankedWord is a word of the base that is replaced by the one of a rank.
type rankedWord struct {
	star WordID
	rank int
	to   *WordID
}

// move replaces words of the base by words of a drawn rank among their nearest.
func (m *rankSampler) move(documents []document) {
	var near, beyond []rankedWord
	var stars []WordID // of near
	for _, x := range documents {
		for i, star := range x.words {
			w := rankedWord{star, m.rank(x.rng), &x.words[i]}
			switch {
			case w.rank == 0:
			case w.rank < keptRanks:
				near = append(near, w)
				stars = append(stars, star)
			default:
				beyond = append(beyond, w)
			}
		}
	}
	m.near.search(stars, m.count)
	for _, w := range near {
		*w.to = m.near.of(w.star, m.count)[w.rank].ID
	}
	slices.SortStableFunc(beyond, func(a, b rankedWord) int {
		return int(a.star) - int(b.star)
	})
	var order []WordID
	for i, w := range beyond {
		if i == 0 || w.star != beyond[i-1].star {
			order, _ = orderFrom(m.space, w.star)
		}
		*w.to = order[w.rank]
	}
}

// rank draws r from [0, n) with probability ∝ e^{−decay·r}.
func (m *rankSampler) rank(rng *rand.Rand) int {
	n := float64(m.space.Len())
	u := rng.Float64()
	r := u * n // the limit of small decay
	if m.decay*n > 1e-9 {
		r = -math.Log1p(u*math.Expm1(-m.decay*n)) / m.decay
	}
	return int(min(max(math.Floor(r), 0), n-1))
}
