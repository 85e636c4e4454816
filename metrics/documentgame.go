package metrics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// DocumentGame counts how often a reader of a released text alone tells which of
// two originals, drawn by a coin, it came from. Several players guess: the best is
// chosen on every second round and counted on the others.
type DocumentGame[W ~int32] struct {
	players []player[W]
	played  int

	places  []float64 // of each counted round: in how many places the originals differ
	differs int       // the sum of places
	shown   int       // of them, those where the released word is that of its original
}

// A player adds up, over the places where two words x and y differ, how much more the
// released word is one for x than for y.
type player[W ~int32] struct {
	name  string
	judge judge[W]
	right [2]int // in the rounds that choose, and in those that count
}

// A judge says how much more a released word is one for x than for y: above zero for x, below for y.
type judge[W ~int32] interface {
	score(rows map[W][]float64, x, y, released W) float64
}

// NewDocumentGame is a game of words of which the first n have distances.
func NewDocumentGame[W ~int32](n int, distance func(x, y W) float64) *DocumentGame[W] {
	return &DocumentGame[W]{players: []player[W]{
		{name: "exact likelihood", judge: likelihoods[W]{}},
		{name: "distances in place", judge: distances[W]{n: n, distance: distance}},
		{name: "equal words", judge: equalWords[W]{}},
	}}
}

// likelihoods judges by the log-likelihood ratio, where the probabilities are known.
type likelihoods[W ~int32] struct{}

func (likelihoods[W]) score(rows map[W][]float64, x, y, released W) float64 {
	if rows == nil || rows[x][released] == rows[y][released] { // both may be impossible
		return 0
	}
	return rows[x][released] - rows[y][released]
}

// distances judges by which word is nearer, where all have vectors.
type distances[W ~int32] struct {
	n        int // words below it have vectors
	distance func(x, y W) float64
}

func (d distances[W]) score(_ map[W][]float64, x, y, released W) float64 {
	if int(max(x, y, released)) >= d.n {
		return 0
	}
	return d.distance(y, released) - d.distance(x, released)
}

// equalWords judges by which word is the released one.
type equalWords[W ~int32] struct{}

func (equalWords[W]) score(_ map[W][]float64, x, y, released W) float64 {
	switch released {
	case x:
		return 1
	case y:
		return -1
	}
	return 0
}

// Round lets every player guess from the places that all three texts have; who
// cannot tell draws. released came from x where coin is 0, from y where it is 1. rows
// has the natural logarithms of the probabilities of outputs, by word, where known.
func (g *DocumentGame[W]) Round(x, y, released []W, rows map[W][]float64, coin int, rng *rand.Rand) {
	counts := g.played % 2
	g.played++
	original := x
	if coin == 1 {
		original = y
	}
	sums := make([]float64, len(g.players))
	differ := 0
	shown := 0
	for i, w := range released[:min(len(x), len(y), len(released))] {
		if x[i] == y[i] {
			continue
		}
		for k, p := range g.players {
			sums[k] += p.judge.score(rows, x[i], y[i], w)
		}
		differ++
		if w == original[i] {
			shown++
		}
	}
	if counts == 1 {
		g.places = append(g.places, float64(differ))
		g.differs += differ
		g.shown += shown
	}
	for k, sum := range sums {
		guess := rng.IntN(2) // drawn by all, so that the next draws are the same
		if sum < 0 {
			guess = 1
		} else if sum != 0 {
			guess = 0
		}
		if guess == coin {
			g.players[k].right[counts]++
		}
	}
}

// best is the player with most right guesses in the rounds that choose; ties go to
// the first.
func (g *DocumentGame[W]) best() player[W] {
	return slices.MaxFunc(g.players, func(a, b player[W]) int { return a.right[0] - b.right[0] })
}

// Result returns in how many of the counted rounds the best player was right.
func (g *DocumentGame[W]) Result() (right, rounds int) { return g.best().right[1], len(g.places) }

// Note says who played, and where nothing but his answers could come out: if each
// place shows its word with the measured share, independently, one who counts equal
// words fails in half of the texts that show none.
func (g *DocumentGame[W]) Note() string {
	best := g.best()
	rounds := len(g.places)
	note := fmt.Sprintf("a lower bound at 95%%: right in %d of %d rounds by %s, chosen on others",
		best.right[1], rounds, best.name)
	shown := float64(g.shown) / float64(max(1, g.differs))
	fails := 0.0
	for _, n := range g.places {
		fails += math.Pow(1-shown, n) / 2
	}
	if best.right[1] < rounds || fails >= 0.5 {
		return note
	}
	return note + fmt.Sprintf("; this is arithmetic: texts differ in %.0f places (mean), %.0f%% of which show their "+
		"word, so that %.1g rounds would be wrong", float64(g.differs)/float64(rounds), 100*shown, fails)
}
