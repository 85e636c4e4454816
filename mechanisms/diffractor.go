package mechanisms

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

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
			{Name: "lists", Default: 1.0, Legal: "a whole number in [1, 16]", Valid: params.Whole(1, 16),
				Doc: "lists of the vocabulary; one of them is drawn for every word"},
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
// A list is the greedy chain of nearest neighbours through the space, each word
// followed by the nearest of those not yet on the list. The source has one list
// for each of several embeddings and one random start word for each; here all
// lists go through one space, the first from its first word, the others from
// words drawn from the environment's seed. Every word is on every list, and a
// list is drawn for each word, so the distance between two words is the largest
// of their distances on the lists.
//
// The released package publishes stop words and words that are on no list:
// KeepWords and policy keep. Its default seed is fixed, so anyone can reproduce
// its noise.
func newDiffractor(env Environment, s Settings) (*Mechanism, error) {
	count := int(s.Parameters["lists"].(float64))
	n := env.Space.Len()
	lists := make([]walkedList, count)
	rng := env.Seed.Derive("diffractor", "start").Rand()
	for i := range lists {
		start := WordID(0)
		if i > 0 {
			start = WordID(rng.IntN(n))
		}
		lists[i] = newWalkedList(chainOf(env.Space, start))
	}
	steps := geometricSteps{n}
	g := Guarantee{
		Metric: "list", Epsilon: s.Epsilon,
		Reason: "noise on the position in a list; the lists are taken as public",
		Distance: func(a, b WordID) float64 {
			farthest := 0
			for _, l := range lists {
				farthest = max(farthest, abs(int(l.place[a])-int(l.place[b])))
			}
			return float64(farthest)
		},
	}
	draw := func(word WordID, epsilon float64, rng *rand.Rand) WordID {
		l := lists[0]
		if len(lists) > 1 {
			l = lists[rng.IntN(len(lists))]
		}
		return l.words[steps.draw(int(l.place[word]), epsilon, rng)]
	}
	return Formula(s, g, env.Space.Vocabulary, draw, func(dst []float64, word WordID) {
		row := make([]float64, n)
		if len(lists) == 1 { // a mixture of one
			steps.logs(row, int(lists[0].place[word]), s.Epsilon)
			for j, x := range row {
				dst[lists[0].words[j]] = x
			}
			return
		}
		terms := make([][]float64, n)
		for _, l := range lists {
			steps.logs(row, int(l.place[word]), s.Epsilon)
			for j, x := range row {
				y := l.words[j]
				terms[y] = append(terms[y], x)
			}
		}
		for y := range dst {
			dst[y] = floats.LogSumExp(terms[y]) - math.Log(float64(len(lists)))
		}
	}), nil
}

// walkedList is a list and the position of every word on it.
type walkedList struct {
	words []embeddings.WordID
	place []int32
}

func newWalkedList(words []WordID) walkedList {
	l := walkedList{words: words, place: make([]int32, len(words))}
	for i, w := range words {
		l.place[w] = int32(i)
	}
	return l
}

// geometricSteps is the clipped two-sided geometric law on n positions.
type geometricSteps struct{ n int }

// draw takes |Z| = 0 with probability (1−α)/(1+α) = tanh(ε/2), and otherwise a
// sign and |Z| = 1 + a geometric number, the whole part of an exponential one.
func (g geometricSteps) draw(from int, epsilon float64, rng *rand.Rand) int {
	if rng.Float64() < math.Tanh(epsilon/2) {
		return from
	}
	right := rng.Uint64()&1 == 1
	steps := 1 + math.Floor(rng.ExpFloat64()/epsilon)
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

func (g geometricSteps) logs(dst []float64, from int, epsilon float64) {
	if g.n == 1 {
		dst[0] = 0
		return
	}
	inside := math.Log(math.Tanh(epsilon / 2))
	end := -math.Log1p(math.Exp(-epsilon)) // Σ over all z beyond the end
	for j := range dst {
		dst[j] = inside - epsilon*math.Abs(float64(j-from))
	}
	dst[0] = end - epsilon*float64(from)
	dst[g.n-1] = end - epsilon*float64(g.n-1-from)
}

func abs(x int) int {
	if x < 0 {
		return -x
	}
	return x
}
