package measure

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// The bound of the game never exceeds the exact ε of the two documents, and that
// never the sum of ε·d: 200 pairs, every mechanism with a closed form. The
// confidence of a bound is 1 − 1e-10, so a false alarm among all has less than
// 1e-6.
func TestGameIsBelowTheExactLoss(t *testing.T) {
	t.Parallel()
	const delta = 1e-5
	env := mechanisms.Environment{Space: spacetest.Gaussian(t, 80, 4, 1, 92), Thesaurus: spacetest.Tens{},
		Seed: stream.FromUint64(1)}
	env.Documents = [][]string{env.Space.Vocabulary.Words(), {"w1", "w2"}}
	env.Train = env.Documents
	v := env.Space.Vocabulary
	rng := stream.FromUint64(36).Rand()
	var pairs []documentPair
	for range 200 {
		n := 1 + rng.IntN(4)
		a, b := make([]string, n), make([]string, n)
		for i := range n {
			a[i] = v.Word(mechanisms.WordID(rng.IntN(v.Len())))
			if b[i] = a[i]; i == 0 || rng.IntN(2) > 0 {
				b[i] = v.Word(mechanisms.WordID(rng.IntN(v.Len())))
			}
		}
		pairs = append(pairs, newPair(v, a, b, 0, -1))
	}
	closed, told, names := 0, 0, map[string]bool{}
	for _, d := range mechanisms.Definitions() {
		if d.New == nil || d.Documents {
			continue
		}
		name := d.Name
		for _, variant := range d.Variants {
			for _, epsilon := range []float64{2} {
				m, err := mechanisms.New(env, mechanisms.Settings{Mechanism: name, Variant: variant, Epsilon: epsilon})
				if err != nil {
					continue // needs other data, or is undefined
				}
				var games []*documentGame
				if !m.Closed() {
					continue
				}
				losses := lossesOf(t, m, pairs, delta, func(p documentPair, rows logRows) error {
					games = append(games, newGame(env.Space))
					return player{games[len(games)-1], m, rng}.play(t.Context(), p, rows, 200)
				})
				closed++
				names[name] = true
				for i, l := range losses {
					what := fmt.Sprintf("%s, %s, ε = %v, pair %d", name, variant, epsilon, i)
					if l.epsilon > l.Worst+l.Slack || m.Guarantee().Holds() && l.bound < l.Worst-1e-6*(1+math.Abs(l.bound)) {
						t.Errorf("%s: ε %v at δ, %v at 0, ε·d %v", what, l.epsilon, l.Worst, l.bound)
					}
					right, rounds := games[i].Result()
					bound := gameEpsilon(right, rounds, delta, 1-1e-10)
					if !(bound <= l.epsilon) {
						t.Errorf("%s: the game has ε ≥ %v, exact is %v", what, bound, l.epsilon)
					}
					if bound > 0.1 {
						told++
					}
				}
			}
		}
	}
	t.Logf("%d closed forms of %d mechanisms, %d bounds above 0.1", closed, len(names), told)
	if closed < 12 || told < 300 {
		t.Errorf("%d closed forms, %d bounds above 0.1: the test shows nothing", closed, told)
	}
}

// lossesOf are those of pairs; also is called for each with its rows.
func lossesOf(t *testing.T, m *mechanisms.Mechanism, pairs []documentPair, delta float64,
	also func(documentPair, logRows) error) (losses []documentLoss) {
	t.Helper()
	for _, p := range pairs {
		rows, err := p.logRows(m)
		if err == nil {
			err = also(p, rows)
		}
		if err != nil {
			t.Fatal(err)
		}
		l, err := p.loss(m.Guarantee(), rows, delta)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, l)
	}
	return losses
}

// ε at δ is that of the worse direction, by brute force over all texts of two
// words; quantiles are those of texts that the first document gives.
func TestDocumentEpsilonIsOfTheWorseDirection(t *testing.T) {
	t.Parallel()
	const delta = 0.01
	space := spacetest.Gaussian(t, 12, 2, 1, 5)
	m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: "santext", Epsilon: 3})
	if err != nil {
		t.Fatal(err)
	}
	var pairs []documentPair
	for i := range 11 {
		a, b := fmt.Sprint("w", i), fmt.Sprint("w", i+1)
		pairs = append(pairs, newPair(space.Vocabulary, []string{a, a}, []string{b, b}, 0, -1),
			newPair(space.Vocabulary, []string{b, b}, []string{a, a}, 0, -1))
	}
	losses := lossesOf(t, m, pairs, delta, func(documentPair, logRows) error { return nil })
	unlike := 0
	for i := 0; i < len(pairs); i += 2 {
		l, swapped := losses[i], losses[i+1]
		if l.epsilon != swapped.epsilon || l.Worst != swapped.Worst || l.bound != swapped.bound {
			t.Errorf("pair %d: ε %v, worst %v, ε·d %v; the other way round %v, %v, %v", i, l.epsilon, l.Worst, l.bound,
				swapped.epsilon, swapped.Worst, swapped.bound)
		}
		var ofOne [2]float64 // ε by direction
		for k, one := range []documentPair{pairs[i], pairs[i+1]} {
			x, _ := m.LogRow(one.x[0])
			y, _ := m.LogRow(one.y[0])
			least, most := 0.0, 100.0 // by bisection, of δ(ε) = Σ max(0, P − e^ε·Q)
			for range 60 {
				e, d := (least+most)/2, 0.0
				for u := range x {
					for v := range x {
						d += max(0, math.Exp(x[u]+x[v])-math.Exp(e+y[u]+y[v]))
					}
				}
				if d > delta {
					least = e
				} else {
					most = e
				}
			}
			ofOne[k] = most
		}
		if want := max(ofOne[0], ofOne[1]); l.epsilon < want-1e-9 || l.epsilon > want+max(l.Slack, swapped.Slack) {
			t.Errorf("pair %d: ε %v, want %v", i, l.epsilon, want)
		}
		if math.Abs(ofOne[0]-ofOne[1]) > 2*(l.Slack+swapped.Slack) {
			unlike++
		}
	}
	if unlike < 5 {
		t.Errorf("%d pairs whose directions differ: the test shows nothing", unlike)
	}
}

// The k-th neighbour never returns the word of most places: who counts equal words
// knows little, and who takes distances nearly all. Where words come back, the
// outcome is arithmetic, and the note says so.
func TestGameIsPlayedByTheBest(t *testing.T) {
	t.Parallel()
	space, rng := spacetest.Gaussian(t, 400, 20, 1, 7), stream.FromUint64(9).Rand()
	note := func(name string, epsilon float64) string {
		m, err := mechanisms.New(mechanisms.Environment{Space: space}, mechanisms.Settings{Mechanism: name, Epsilon: epsilon})
		if err != nil {
			t.Fatal(err)
		}
		g := newGame(space)
		for range 50 {
			p := documentPair{x: make([]mechanisms.WordID, 40), y: make([]mechanisms.WordID, 40)}
			for i := range p.x {
				p.x[i], p.y[i] = mechanisms.WordID(rng.IntN(space.Len())), mechanisms.WordID(rng.IntN(space.Len()))
			}
			if err := (player{g, m, rng}).play(t.Context(), p, nil, 20); err != nil {
				t.Fatal(err)
			}
		}
		return g.Note()
	}
	for _, c := range []struct {
		mechanism  string
		epsilon    float64
		wins       string
		arithmetic bool
	}{{"kth", 50, `^a lower bound at 95%: right in (49\d|500) of 500 rounds by distances in place`, false},
		{"cmp", 60, "right in 500 of 500 rounds by", true}, {"cmp", 0.001, "right in [23].. of 500", false}} {
		got := note(c.mechanism, c.epsilon)
		if !regexp.MustCompile(c.wins).MatchString(got) || strings.Contains(got, "; this is arithmetic: texts differ in 40") !=
			c.arithmetic {
			t.Errorf("%s at %v: %s", c.mechanism, c.epsilon, got)
		}
	}
}

func TestGameEpsilon(t *testing.T) {
	t.Parallel()
	if e := gameEpsilon(50, 100, 0, 0.95); e != 0 {
		t.Errorf("guessing: %v", e)
	}
	// All of 100 right: p = 0.05^(1/100), by hand.
	p := math.Pow(0.05, 0.01)
	if e := gameEpsilon(100, 100, 0, 0.95); !(math.Abs(e-math.Log(p/(1-p))) <= 1e-9) {
		t.Errorf("all right: %v", e)
	}
	if e := gameEpsilon(1, 0, 0, 0.95); !math.IsNaN(e) {
		t.Errorf("no rounds: %v", e)
	}
}
