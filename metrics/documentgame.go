package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// DocumentGame counts how often a reader of a released text alone tells which of
// two originals, drawn by a coin, it came from. Several adversaries guess: the best is
// chosen on every second round and counted on the others.
type DocumentGame[W ~int32] struct {
	judges  []judge[W]
	contest *Contest
	played  int

	places  []float64 // of each counted round: in how many places the originals differ
	differs int       // the sum of places
	shown   int       // of them, those where the released word is that of its original
}

// InPlace are the adversaries who compare words in their places, by name.
var InPlace = []string{"exact likelihood", "distances in place", "equal words"}

// A judge says how much more a released word is one for x than for y: above zero for x, below for y.
type judge[W ~int32] interface {
	score(logs LogProbability[W], x, y, released W) float64
}

// NewDocumentGame is a game of words of which the first n have distances.
func NewDocumentGame[W ~int32](n int, distance func(x, y W) float64) *DocumentGame[W] {
	judges := []judge[W]{likelihoods[W]{}, distances[W]{n: n, distance: distance}, equalWords[W]{}}
	return &DocumentGame[W]{judges: judges, contest: NewContest(InPlace...)}
}

// LogProbability is the natural logarithm of the probability that a word is released as another.
type LogProbability[W ~int32] func(word, released W) float64

// likelihoods judges by the log-likelihood ratio, where the probabilities are known.
type likelihoods[W ~int32] struct{}

func (likelihoods[W]) score(logs LogProbability[W], x, y, released W) float64 {
	if logs == nil {
		return 0
	}
	ofX := logs(x, released)
	ofY := logs(y, released)
	if ofX == ofY { // both may be impossible
		return 0
	}
	return ofX - ofY
}

// distances judges by which word is nearer, where all have vectors.
type distances[W ~int32] struct {
	n        int // words below it have vectors
	distance func(x, y W) float64
}

func (d distances[W]) score(_ LogProbability[W], x, y, released W) float64 {
	if int(max(x, y, released)) >= d.n {
		return 0
	}
	return d.distance(y, released) - d.distance(x, released)
}

// equalWords judges by which word is the released one.
type equalWords[W ~int32] struct{}

func (equalWords[W]) score(_ LogProbability[W], x, y, released W) float64 {
	switch released {
	case x:
		return 1
	case y:
		return -1
	}
	return 0
}

// Round lets every adversary guess from the places that all three texts have; who
// cannot tell draws. released came from x where coin is 0, from y where it is 1. logs
// are nil where probabilities are not known.
func (g *DocumentGame[W]) Round(x, y, released []W, logs LogProbability[W], coin int, rng *rand.Rand) {
	half := HalfOf(g.played)
	g.played++
	if half == counting {
		g.count(x, y, released, coin)
	}
	g.contest.Round(half, g.Margins(x, y, released, logs), coin, rng)
}

// Margins are those of InPlace: above zero where the released text is one for x, below for y.
// Each adversary adds up, over the places where the two differ, how much more the released
// word is one for x than for y.
func (g *DocumentGame[W]) Margins(x, y, released []W, logs LogProbability[W]) []float64 {
	margins := make([]float64, len(g.judges))
	for i, w := range released[:min(len(x), len(y), len(released))] {
		if x[i] == y[i] {
			continue
		}
		for k, j := range g.judges {
			margins[k] += j.score(logs, x[i], y[i], w)
		}
	}
	return margins
}

// count counts the places of a round that counts.
func (g *DocumentGame[W]) count(x, y, released []W, coin int) {
	original := x
	if coin == 1 {
		original = y
	}
	differ := 0
	for i, w := range released[:min(len(x), len(y), len(released))] {
		if x[i] == y[i] {
			continue
		}
		differ++
		if w == original[i] {
			g.shown++
		}
	}
	g.places = append(g.places, float64(differ))
	g.differs += differ
}

// Result returns in how many of the counted rounds the best adversary was right.
func (g *DocumentGame[W]) Result() (right, rounds int) {
	_, right, rounds = g.contest.Result()
	return right, rounds
}

// Note says who played, and where nothing but his answers could come out: if each
// place shows its word with the measured share, independently, one who counts equal
// words fails in half of the texts that show none.
func (g *DocumentGame[W]) Note() string {
	best, right, rounds := g.contest.Result()
	note := fmt.Sprintf("a lower bound at 95%%: right in %d of %d rounds by %s, chosen on others", right, rounds, best)
	shown := float64(g.shown) / float64(max(1, g.differs))
	fails := 0.0
	for _, n := range g.places {
		fails += math.Pow(1-shown, n) / 2
	}
	if right < rounds || fails >= 0.5 {
		return note
	}
	return note + fmt.Sprintf("; this is arithmetic: texts differ in %.0f places (mean), %.0f%% of which show their "+
		"word, so that %.1g rounds would be wrong", float64(g.differs)/float64(rounds), 100*shown, fails)
}
