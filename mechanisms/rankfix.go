package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings/nearest"
	"mldpbench/internal/params"
)

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
			{Name: "c", Default: 0.04, Legal: "> 0 and finite", Valid: params.Strictly(0, math.Inf(1)),
				Doc: "decay: the r-th nearest word of the base's output is returned with probability ∝ exp(-c·ε·r)"},
		},
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
	m := &rankFix{newProjector(env.Space, s.Epsilon, 1), s.Parameters["c"].(float64),
		neighborsOf(env.Space, true)}
	g := euclideanGuarantee(env.Space, s.Epsilon, "the rank is drawn from the output of CMP alone, which is "+
		"post-processing: the noise is ε·d-private and the nearest word is post-processing")
	out := m.base.mechanism(s, g)
	out.sampler, out.choices = m, m.choices
	return out, nil
}

type rankFix struct {
	base  *projector
	decay float64
	near  *neighborLists
}

// keptRanks is the number of neighbours stored per word at most; farther ones are
// searched for each time.
const keptRanks = 256

// kept is how many are stored at an ε: ranks beyond e^-42 are never drawn, as a uniform
// number has 53 bits.
func (m *rankFix) kept(epsilon float64) int {
	return int(min(keptRanks, math.Exp2(math.Ceil(math.Log2(1+42/(m.decay*epsilon))))))
}

func (m *rankFix) whole() bool { return false }

// draw searches for the words of all documents together. The ranks of a document
// are drawn after its noise.
func (m *rankFix) draw(ctx context.Context, documents []Document, workers int) error {
	if err := m.base.draw(ctx, documents, workers); err != nil {
		return err
	}
	m.move(documents)
	return nil
}

// choices are the words nearest to what the base returned. Beyond those, a drawn word
// stands for all.
func (m *rankFix) choices(words []WordID, rng *rand.Rand) Choices {
	stars := slices.Clone(words)
	_ = m.base.draw(context.Background(), []Document{{stars, m.base.epsilon, rng}}, 1) // only a cancelled context fails
	outputs := slices.Clone(stars)
	m.move([]Document{{outputs, m.base.epsilon, rng}})
	count := m.kept(m.base.epsilon)
	m.near.search(stars, count)
	p, sum := make([]float64, min(count, m.base.space.Len())), 0.0
	for r := range p {
		p[r] = math.Exp(-m.decay * m.base.epsilon * float64(r))
		sum += p[r]
	}
	return func(i int, take func(WordID, float64)) {
		near := m.near.of(stars[i], count)
		if !slices.ContainsFunc(near, func(a nearest.Neighbor) bool { return a.ID == outputs[i] }) {
			take(outputs[i], 1)
			return
		}
		for r := 0; r < len(near) && p[r] > 1e-18; r++ { // the rest is rounding
			take(near[r].ID, p[r]/sum)
		}
	}
}

// move replaces words of the base by words of a drawn rank among their nearest.
func (m *rankFix) move(documents []Document) {
	type move struct {
		star WordID
		rank int
		to   *WordID
	}
	var near, beyond []move
	var stars []WordID // of near
	count := 0
	for _, x := range documents {
		count = max(count, m.kept(x.Epsilon))
		for i, star := range x.Words {
			rank := m.rank(x.Epsilon, x.Rand)
			switch {
			case rank == 0:
			case rank < keptRanks:
				near, stars = append(near, move{star, rank, &x.Words[i]}), append(stars, star)
			default:
				beyond = append(beyond, move{star, rank, &x.Words[i]})
			}
		}
	}
	m.near.search(stars, count)
	for _, w := range near {
		*w.to = m.near.of(w.star, count)[w.rank].ID
	}
	slices.SortStableFunc(beyond, func(a, b move) int { return int(a.star) - int(b.star) })
	for start := 0; start < len(beyond); {
		order, _ := orderFrom(m.base.space, beyond[start].star)
		end := start
		for ; end < len(beyond) && beyond[end].star == beyond[start].star; end++ {
			*beyond[end].to = order[beyond[end].rank]
		}
		start = end
	}
}

// rank draws r from [0, n) with probability ∝ e^{−cεr}.
func (m *rankFix) rank(epsilon float64, rng *rand.Rand) int {
	n := float64(m.base.space.Len())
	x, u := m.decay*epsilon, rng.Float64()
	r := u * n // the limit of small x
	if x*n > 1e-9 {
		r = -math.Log1p(u*math.Expm1(-x*n)) / x
	}
	return int(min(max(math.Floor(r), 0), n-1))
}
