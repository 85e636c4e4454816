package mechanisms

import (
	"math"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

func TestDistancesFromAreEuclideanBitForBit(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 17} {
		s := spacetest.Gaussian(t, n, 7, 1, 1)
		row := make([]float64, n)
		for w := range WordID(n) {
			distancesFrom(row, s, w)
			for u, d := range row {
				if want := s.Distance(w, WordID(u)); d != want {
					t.Fatalf("n = %d: d(%d,%d) = %v, want %v", n, w, u, d, want)
				}
			}
		}
	}
}

// SanText by its definition, in the simplest possible code.
func TestSanTextClosedForm(t *testing.T) {
	s := spacetest.Gaussian(t, 60, 5, 1, 2)
	const epsilon = 1.7
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: epsilon})
	d, err := m.Row(11)
	if err != nil {
		t.Fatal(err)
	}
	var z float64
	for y := range WordID(60) {
		z += math.Exp(-epsilon / 2 * s.Distance(11, y))
	}
	for y, p := range d {
		want := math.Exp(-epsilon/2*s.Distance(11, WordID(y))) / z
		if math.Abs(p-want) > 1e-15 {
			t.Fatalf("Pr[%d] = %v, want %v", y, p, want)
		}
	}
}

// temByGumbel is TEM as the paper prints it: Gumbel noise on the words within
// γ and on one element for all others.
func temByGumbel(s *embeddings.Space, word WordID, epsilon, gamma, beyondScore float64, n int, seed stream.Seed) []int {
	rng := seed.Rand()
	gumbel := func() float64 { return -2 / epsilon * math.Log(rng.ExpFloat64()) }
	var within, beyond []WordID
	for y := range WordID(s.Len()) {
		if s.Distance(word, y) <= gamma {
			within = append(within, y)
		} else {
			beyond = append(beyond, y)
		}
	}
	counts := make([]int, s.Len())
	for range n {
		best, bestScore := WordID(-1), math.Inf(-1)
		for _, y := range within {
			if score := -s.Distance(word, y) + gumbel(); score > bestScore {
				best, bestScore = y, score
			}
		}
		if len(beyond) > 0 && beyondScore+gumbel() > bestScore {
			best = beyond[rng.IntN(len(beyond))]
		}
		counts[best]++
	}
	return counts
}

func TestTEMEqualsItsGumbelForm(t *testing.T) {
	s := spacetest.Gaussian(t, 80, 4, 1, 3)
	const epsilon, gamma, word = 3.0, 2.2, 5
	within := 0.0
	for y := range WordID(80) {
		if s.Distance(word, y) <= gamma {
			within++
		}
	}
	if within < 5 || within > 75 {
		t.Fatalf("%v of 80 words within gamma: the test needs both sides", within)
	}
	for variant, beyondScore := range map[Variant]float64{
		Proved:   -gamma + 2/epsilon*math.Log(80-within),
		Released: -gamma + 2/epsilon*math.Log(80/within),
	} {
		m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "tem", Variant: variant, Epsilon: epsilon,
			Parameters: Parameters{"gamma": gamma}})
		d, err := m.Row(word)
		if err != nil {
			t.Fatal(err)
		}
		requireFit(t, string(variant), temByGumbel(s, word, epsilon, gamma, beyondScore, 100000, stream.FromUint64(6)),
			d)
	}
}

func TestTheorem3(t *testing.T) {
	// (2/5)·ln(0.999·26999/0.001) by hand.
	if g := theorem3(5, 0.001, 26999); math.Abs(g-6.8441) > 1e-4 {
		t.Errorf("gamma = %v, want 6.8441", g)
	}
	if g := theorem3(5, 0.5, 0); g != 0 {
		t.Errorf("one word: gamma = %v, want 0", g)
	}
}

// TestTheorem3KeepsWordsWithinGamma checks what γ is for, Pr[d(w, ŵ) ≤ γ] ≥ 1−β,
// on exact distributions; -v prints the largest share beyond γ.
func TestTheorem3KeepsWordsWithinGamma(t *testing.T) {
	check := func(t *testing.T, s *embeddings.Space, words int) {
		const beta = 0.001
		for _, epsilon := range []float64{0.5, 2, 4, 8, 22} {
			m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "tem", Epsilon: epsilon,
				Parameters: Parameters{"beta": beta}})
			gamma := theorem3(epsilon, beta, s.Len()-1)
			largest := 0.0
			for i := range words {
				w := WordID(i * s.Len() / words)
				d, err := m.Row(w)
				if err != nil {
					t.Fatal(err)
				}
				beyond := 0.0
				for y, p := range d {
					if s.Distance(w, WordID(y)) > gamma {
						beyond += p
					}
				}
				largest = max(largest, beyond)
			}
			t.Logf("epsilon %v: gamma %.2f, at most %.2g of the outputs of a word lie beyond", epsilon, gamma, largest)
			if largest > beta*(1+1e-9) {
				t.Errorf("epsilon %v: %v of the outputs lie beyond gamma = %v, want at most %v", epsilon, largest,
					gamma, beta)
			}
		}
	}
	t.Run("gaussian", func(t *testing.T) { check(t, spacetest.Gaussian(t, 300, 10, 1, 9), 300) })
	t.Run("glove", func(t *testing.T) { check(t, gloveSpace(t), 20) })
}

// Tables that do not fit must not change what is drawn.
func TestRowCacheForgetsWithoutConsequence(t *testing.T) {
	s := spacetest.Gaussian(t, 50, 3, 1, 4)
	src := make([]WordID, 5000)
	rng := stream.FromUint64(7).Rand()
	for i := range src {
		src[i] = WordID(rng.IntN(50))
	}
	want := make([]WordID, len(src))
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: 2})
	_ = m.Privatize(ctx, want, src, stream.FromUint64(8).Rand())

	again := mustNew(t, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: 2})
	full := samplerOf[*selector](t, again)
	full.tables.limit = 1 // no room after the first rows
	got := make([]WordID, len(src))
	_ = again.Privatize(ctx, got, src, stream.FromUint64(8).Rand())
	kept := 0
	for w := range full.tables.slots {
		if full.tables.slots[w].Load() != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("a full cache keeps %d tables", kept)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("word %d differs", i)
		}
	}
}
