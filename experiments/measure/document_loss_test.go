package measure

import (
	"fmt"
	"math"
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
		n := 1 + rng.IntN(8)
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
		if d.New == nil {
			continue
		}
		name := d.Name
		for _, variant := range d.Variants {
			for _, epsilon := range []float64{2} {
				m, err := mechanisms.New(env, mechanisms.Settings{Mechanism: name, Variant: variant, Epsilon: epsilon})
				if err != nil {
					continue // needs other data, or is undefined
				}
				losses, err := lossesOf(t.Context(), m, pairs, delta)
				if err != nil {
					t.Fatal(err)
				}
				if losses == nil {
					continue
				}
				closed++
				names[name] = true
				for i, l := range losses {
					what := fmt.Sprintf("%s, %s, ε = %v, pair %d", name, variant, epsilon, i)
					if l.epsilon > l.Worst+l.Slack || l.bound < l.Worst-1e-6*(1+math.Abs(l.bound)) {
						t.Errorf("%s: ε %v at δ, %v at 0, ε·d %v", what, l.epsilon, l.Worst, l.bound)
					}
					const rounds = 200
					bound, err := GameEpsilon(wordGame(m, pairs[i], rounds, rng), rounds, delta, 1-1e-10)
					if err != nil || bound > l.epsilon {
						t.Errorf("%s: the game has ε ≥ %v, exact is %v, %v", what, bound, l.epsilon, err)
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

func TestGameEpsilon(t *testing.T) {
	t.Parallel()
	if e, err := GameEpsilon(50, 100, 0, 0.95); err != nil || e != 0 {
		t.Errorf("guessing: %v, %v", e, err)
	}
	// All of 100 right: p = 0.05^(1/100), by hand.
	p := math.Pow(0.05, 0.01)
	if e, err := GameEpsilon(100, 100, 0, 0.95); err != nil || math.Abs(e-math.Log(p/(1-p))) > 1e-9 {
		t.Errorf("all right: %v, %v", e, err)
	}
	if _, err := GameEpsilon(1, 0, 0, 0.95); err == nil {
		t.Error("no rounds must be an error")
	}
}
