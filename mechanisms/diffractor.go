package mechanisms

import (
	"math"
	"math/rand/v2"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "diffractor",
		Title:    "1-Diffractor",
		Source:   "Meisenbacher et al. 2024b (IWSPA), §4",
		Metric:   "list",
		Order:    120,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{Name: "form", Default: "geometric", Fixed: true},
			{Name: "gamma", Default: 5.0, Fixed: true},
			{Name: "lists", Default: 1.0, Fixed: true},
		},
		New: newDiffractor,
	})
}

// newDiffractor builds 1-Diffractor: words stand on a list, and the word at i
// becomes a word at j. The distance is the number of steps |i−j|.
//
// j = i + Z with Pr[Z=z] = (1−α)/(1+α)·α^{|z|}, α = e^{−ε} (Ghosh et al. 2012),
// clipped: a position beyond an end becomes that end. Clipping depends on i + Z
// alone, so it is post-processing.
//
// The list is the greedy chain of nearest neighbours through the space from its first
// word, each word followed by the nearest of those not yet on the list. The source has
// one for each of several embeddings.
//
// The released package publishes stop words and words that are on no list:
// KeepWords and policy keep. Its default seed is fixed, so anyone can reproduce
// its noise.
func newDiffractor(env Environment, s Settings) (*Mechanism, error) {
	n := env.Space.Len()
	list := chainOf(env.Space, 0)
	place := make([]int, n)
	for i, w := range list {
		place[w] = i
	}
	steps := geometricSteps{n, s.Epsilon}
	g := Guarantee{
		Metric:   "list",
		Epsilon:  s.Epsilon,
		Reason:   "noise on the position in a list; the lists are taken as public",
		Distance: func(a, b WordID) float64 { return math.Abs(float64(place[a] - place[b])) },
	}
	draw := func(word WordID, rng *rand.Rand) WordID {
		return list[steps.draw(place[word], rng)]
	}
	logRow := func(dst []float64, word WordID) {
		row := make([]float64, n)
		steps.logs(row, place[word])
		for j, x := range row {
			dst[list[j]] = x
		}
	}
	return ByFormula(s, g, Formula{
		Vocabulary: env.Space.Vocabulary,
		Draw:       draw,
		LogRow:     logRow,
	}), nil
}

// geometricSteps is the clipped two-sided geometric law on n positions.
type geometricSteps struct {
	n       int
	epsilon float64
}

// draw takes |Z| = 0 with probability (1−α)/(1+α) = tanh(ε/2), and otherwise a
// sign and |Z| = 1 + a geometric number, the whole part of an exponential one.
func (g geometricSteps) draw(from int, rng *rand.Rand) int {
	if rng.Float64() < math.Tanh(g.epsilon/2) {
		return from
	}
	right := rng.Uint64()&1 == 1
	steps := 1 + math.Floor(rng.ExpFloat64()/g.epsilon)
	switch {
	case right && steps >= float64(g.n-1-from):
		return g.n - 1
	case !right && steps >= float64(from):
		return 0
	case right:
		return from + int(steps)
	}
	return from - int(steps)
}

// logs writes ln Pr[j | from] of all positions j.
func (g geometricSteps) logs(dst []float64, from int) {
	if g.n == 1 {
		dst[0] = 0
		return
	}
	inside := math.Log(math.Tanh(g.epsilon / 2))
	end := -math.Log1p(math.Exp(-g.epsilon)) // Σ over all z beyond the end
	for j := range dst {
		dst[j] = inside - g.epsilon*math.Abs(float64(j-from))
	}
	dst[0] = end - g.epsilon*float64(from)
	dst[g.n-1] = end - g.epsilon*float64(g.n-1-from)
}
