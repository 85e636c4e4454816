package mechanisms

import (
	"errors"
	"math"
	"math/cmplx"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// The distributions that have a closed form, by their definitions, in the plainest
// code. Rows are given up to a factor.

func TestBaselines(t *testing.T) {
	env := Environment{Space: spacetest.New(t, 1, []float32{0, 1, 5, 9})}
	requireLaw(t, env, Settings{Mechanism: "identity", Epsilon: 2}, "w1", 0, 1, 0, 0)
	requireLaw(t, env, Settings{Mechanism: "uniform", Epsilon: 2}, "w1", 1, 1, 1, 1)
	requireLaw(t, env, Settings{Mechanism: "delete", Epsilon: 2}, "w1", 0, 0, 0, 0, 1)
	requireLaw(t, env, Settings{Mechanism: "k-rr", Epsilon: math.Log(3)}, "w2", 1, 1, 3, 1)
}

func TestCusTextByHand(t *testing.T) {
	// The corpus has w3 most often: it, w2 (at 2) and w1 (at 8) are a group;
	// then w0 and w4. Scores of w3: 1, 1 − 2/9, 0.
	env := Environment{Space: spacetest.New(t, 1, []float32{0, 1, 8, 10, 30}),
		Documents: [][]string{{"w3", "w0", "w3", "stranger"}}}
	weight := math.Exp // of a score at ε = 2
	custext := func(v Variant, k float64) Settings {
		return Settings{Mechanism: "custext", Variant: v, Epsilon: 2, Parameters: Parameters{"k": k}}
	}
	m := requireLaw(t, env, custext(Proved, 3), "w3", 0, weight(0), weight(7./9), weight(1), 0)
	requireLaw(t, env, custext(Proved, 3), "w0", weight(1), 0, 0, 0, weight(0)) // the last group has two words
	if g := m.Guarantee(); !g.Promises(1, 3) || g.Promises(0, 1) || !strings.Contains(g.Scope, "2 groups") {
		t.Errorf("guarantee %s", g)
	}
	// Its own nearest: of w2 these are w2, w3 (at 2) and w1 (at 7).
	requireLaw(t, env, custext(Released, 3), "w2", 0, weight(0), weight(1), weight(5./7), 0)
	// One group of all words needs no scope; equal vectors are drawn alike.
	if g := mustNew(t, env, custext(Proved, 5)).Guarantee(); g.Scope != "" || !g.Promises(0, 4) {
		t.Errorf("one group: %s", g)
	}
	requireLaw(t, Environment{Space: spacetest.New(t, 1, []float32{4, 4})}, custext(Proved, 5), "w0", 1, 1)
}

func TestSanText(t *testing.T) {
	s := spacetest.Gaussian(t, 60, 5, 1, 2)
	weights := make([]float64, 60)
	for y := range weights {
		weights[y] = math.Exp(-1.7 / 2 * s.Distance(11, WordID(y)))
	}
	requireLaw(t, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: 1.7}, "w11", weights...)
	// By falling count: w1 (3), stranger (2), w0 (1, first), w3 (1), and w2,
	// which never occurs. Of these five the rarest share .6 is w0, w3 and w2.
	env := Environment{Space: spacetest.New(t, 1, []float32{0, 2, 3, 7}),
		Documents: [][]string{{"w1", "stranger", "w1"}, {"w0", "w3", "w1", "stranger"}}}
	plus := func(w, p float64) Settings {
		return Settings{Mechanism: "santext-plus", Epsilon: .5, Parameters: Parameters{"w": w, "p": p}}
	}
	e := func(d float64) float64 { return math.Exp(-d / 4) }
	m := requireLaw(t, env, plus(.6, .25), "w2", e(3), 0, 1, e(4)) // sensitive, at 3
	if g := m.Guarantee(); !g.Promises(0, 3) || g.Promises(0, 1) || g.Promises(1, 2) || g.Scope == "" ||
		g.EuclideanEpsilon != 0 {
		t.Errorf("guarantee %s", g)
	}
	sum := e(2) + e(1) + e(5)
	requireLaw(t, env, plus(.6, .25), "w1", e(2), 3*sum, e(1), e(5)) // kept three times in four
	requireLaw(t, env, plus(.6, 0), "w1", 0, 1, 0, 0)
	m = requireLaw(t, env, plus(1, .25), "w1", e(2), 1, e(1), e(5)) // all words sensitive: SanText
	if g := m.Guarantee(); g.Scope != "" || g.EuclideanEpsilon != .5 {
		t.Errorf("w = 1: %s", g)
	}
}

func TestDiffractor(t *testing.T) {
	// The list is w0 w2 w1 w3; α = 1/2: Pr[Z=z] = 1/3·2^{−|z|}, Pr[Z ≥ k] = 2/3·2^{−k}.
	env := Environment{Space: spacetest.New(t, 1, []float32{0, 2, 1, 9}), Seed: stream.FromUint64(3)}
	half := Settings{Mechanism: "diffractor", Epsilon: math.Log(2)}
	m := requireLaw(t, env, half, "w2", 2, 1, 2, 1)
	requireLaw(t, env, half, "w3", 1, 2, 1, 8)
	if g := m.Guarantee(); g.Metric != "list" || g.Distance(0, 1) != 2 || g.Distance(2, 2) != 0 || g.Distance(3, 0) != 3 {
		t.Errorf("guarantee %s: d(0,1) = %v", g, g.Distance(0, 1))
	}
	for n, want := range [][]float64{{1}, {2, 1}, {4, 1, 1}} {
		small := Environment{Space: spacetest.New(t, 1, []float32{0, 1, 2}[:n+1]), Seed: env.Seed}
		requireLaw(t, small, half, "w0", want...)
	}
}

func TestSynTF(t *testing.T) {
	// Proved: candidates are the covered words, for an input that is not covered as well.
	s := spacetest.Gaussian(t, 20, 5, 1, 53)
	norms := normsOf(s)
	for _, w := range []WordID{3, 6} {
		weights := make([]float64, 20)
		for y := range WordID(20) {
			if (wordList{}).Covers(s.Vocabulary.Word(y)) {
				dot := 0.0
				for i, x := range s.Vector(y) {
					dot += float64(x) * float64(s.Vector(w)[i])
				}
				weights[y] = math.Exp(3. / 2 * math.Max(0, dot/norms[w]/norms[y]))
			}
		}
		requireLaw(t, environment(s), Settings{Mechanism: "syntf", Epsilon: 3}, s.Vocabulary.Word(w), weights...)
	}
	// Released: a corpus word is an input if and only if the thesaurus covers it. w1
	// occurs twice; the counts are 2 1 1 1 1 1 of w1 w2 w3 outside w0 w5001. As run: a
	// word of one letter does not count; the counts are 2 1 1 1 of w1 w2 w0 outside. Of
	// the lemmas of w1, w1 and w0 are in the texts, W0_lemma is not.
	env := environment(s)
	env.Train = [][]string{{"w1", "w1", "w2", "q", "q", "q"}, {"w0", "outside"}}
	for v, squares := range map[Variant]float64{Released: 4 + 5, AsRun: 4 + 3} {
		m := mustNew(t, env, Settings{Mechanism: "syntf", Variant: v, Epsilon: 4})
		id, heavy := m.Vocabulary().ID, math.Exp(4.0/2*2/math.Sqrt(squares))
		weights := make([]float64, m.Vocabulary().Len())
		weights[id("w1")], weights[id("w0")], weights[id("W0_lemma")] = heavy, heavy, 1
		requireLaw(t, env, m.settings, "w1", weights...)
		stay := []string{"w6", "W0_lemma"} // not covered; no input
		if v == AsRun {
			stay = []string{"w6", "w3"} // not covered; not in the train texts
		} else if id("w5001") == embeddings.Unknown || id("outside") != embeddings.Unknown {
			t.Errorf("vocabulary %q", m.Vocabulary().Words())
		}
		for _, w := range stay {
			if lawOf(t, m, id(w))[id(w)] != 1 || sample(m, id(w), 100, stream.FromUint64(1))[id(w)] != 100 {
				t.Errorf("%s: %s does not stay", v, w)
			}
		}
		if !slices.Equal(m.Vocabulary().Words()[:s.Len()], s.Vocabulary.Words()) {
			t.Errorf("the vocabulary does not start with the space's: %q", m.Vocabulary().Words())
		}
	}
}

// TEM as the paper prints it: Gumbel noise on the words within γ and on one element
// for all others.
func TestTEMEqualsItsGumbelForm(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 80, 4, 1, 3)
	const epsilon, gamma, word, n = 3.0, 2.2, 5, 40000
	var within, beyond []WordID
	for y := range WordID(80) {
		if s.Distance(word, y) <= gamma {
			within = append(within, y)
		} else {
			beyond = append(beyond, y)
		}
	}
	if len(within) < 5 || len(beyond) < 5 {
		t.Fatalf("%v of 80 words within gamma: the test needs both sides", len(within))
	}
	for variant, scale := range map[Variant]float64{
		Proved: float64(len(beyond)), Released: 80 / float64(len(within)),
	} {
		rng, counts := stream.FromUint64(6).Rand(), make([]int, 80)
		gumbel := func() float64 { return -2 / epsilon * math.Log(rng.ExpFloat64()) }
		for range n {
			best, bestScore := WordID(-1), math.Inf(-1)
			for _, y := range within {
				if score := -s.Distance(word, y) + gumbel(); score > bestScore {
					best, bestScore = y, score
				}
			}
			if -gamma+2/epsilon*math.Log(scale)+gumbel() > bestScore {
				best = beyond[rng.IntN(len(beyond))]
			}
			counts[best]++
		}
		requireFit(t, string(variant), counts, lawOf(t, mustNew(t, Environment{Space: s}, Settings{Mechanism: "tem",
			Variant: variant, Epsilon: epsilon, Parameters: Parameters{"gamma": gamma}}), word))
	}
}

// What γ is for: Pr[d(w, ŵ) ≤ γ] ≥ 1−β.
func TestTheorem3(t *testing.T) {
	t.Parallel()
	// (2/5)·ln(0.999·26999/0.001) by hand.
	if g := theorem3(5, 0.001, 26999); math.Abs(g-6.8441) > 1e-4 {
		t.Errorf("gamma = %v, want 6.8441", g)
	}
	if g := theorem3(5, 0.5, 0); g != 0 {
		t.Errorf("one word: gamma = %v, want 0", g)
	}
	const beta = 0.001
	s := spacetest.Gaussian(t, 300, 10, 1, 9)
	for _, epsilon := range []float64{0.5, 2, 4, 8, 22} {
		m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "tem", Epsilon: epsilon,
			Parameters: Parameters{"beta": beta}})
		gamma := theorem3(epsilon, beta, s.Len()-1)
		for w := range WordID(300) {
			beyond := 0.0
			for y, p := range lawOf(t, m, w) {
				if s.Distance(w, WordID(y)) > gamma {
					beyond += p
				}
			}
			if beyond > beta*(1+1e-9) {
				t.Fatalf("ε = %v: %v of the outputs of word %d lie beyond γ = %v", epsilon, beyond, w, gamma)
			}
		}
	}
}

// The proved variant states its smallest ε and refuses it; the ε·d of the source
// fails for 40 words at about equal distances: y, the farthest word of w, is a
// candidate of w only if k = 40, and Pr[M(w)=y] ≤ Pr[k=40] < e^{−60} is much too rare
// beside Pr[M(y)=y] ≥ Pr[k=1]. ε has almost no effect on the released variant.
func TestGumbel(t *testing.T) {
	const n = 40
	s := spacetest.New(t, n, make([]float32, n*n))
	for i := range n {
		s.Vectors[i*n+i] = 1 + float32(i)/1000
	}
	e, err := extentOf(s)
	if err != nil {
		t.Fatal(err)
	}
	at := func(epsilon float64) (*Mechanism, error) {
		return New(Environment{Space: s}, Settings{Mechanism: "gumbel", Epsilon: epsilon})
	}
	least := (2*(1+math.Log(n)) + 3) / e.smallest
	for _, epsilon := range []float64{1, least * (1 - 1e-13)} {
		var undefined *UndefinedError
		if _, err := at(epsilon); !errors.As(err, &undefined) || math.Abs(undefined.SmallestEpsilon-least) > 1e-12*least {
			t.Errorf("ε = %v: %v, want the smallest ε %v", epsilon, err, least)
		} else if _, err := at(undefined.SmallestEpsilon); !errors.As(err, &undefined) {
			t.Errorf("at the smallest ε itself: err = %v", err)
		}
	}
	m, err := at(1.001 * least)
	if err != nil {
		t.Fatal(err)
	}
	factorial, _ := math.Lgamma(n + 1)
	// ln of Pr[k=1]/Pr[k=n], and what is allowed.
	if ratio, bound := math.Log(math.Log(n))*(1-n)+factorial, m.settings.Epsilon*e.largest; ratio <= bound {
		t.Fatalf("the example does not refute: log-ratio ≥ %v, allowed %v", ratio, bound)
	}
	if g := m.Guarantee(); g.Holds() || !strings.Contains(g.Reason, "fails") {
		t.Errorf("guarantee %q", g)
	}
	var kept []float64
	for _, epsilon := range []float64{0.1, 0.5, 1} {
		m := mustNew(t, environment(spacetest.Gaussian(t, 500, 20, 1, 51)),
			Settings{Mechanism: "gumbel", Variant: Released, Epsilon: epsilon})
		kept = append(kept, float64(sample(m, 7, 20000, stream.FromUint64(51))[7])/20000)
	}
	if slices.Max(kept)-slices.Min(kept) > 0.07 { // two draws of .005 apart
		t.Errorf("Pr[w] = %v at ε = 0.1, 0.5, 1: not flat", kept)
	}
}

func TestMonteCarloKeepsItsError(t *testing.T) {
	m := mustNew(t, Environment{Space: spacetest.Gaussian(t, 40, 4, 1, 54)}, Settings{Mechanism: "santext", Epsilon: 2})
	exact, drawn := lawOf(t, m, 5), *m
	drawn.row = nil
	// The bound holds in 95% of runs; of 200 runs, 30 failures or more have
	// probability below 1e-6 if it does.
	failures := 0
	for i := range 200 {
		d, err := Outputs(ctx, &drawn, 5, 2000, stream.FromUint64(55).At(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		if floats.Distance(d.Probabilities, exact, math.Inf(1)) > d.Error {
			failures++
		}
	}
	if failures >= 30 {
		t.Errorf("the error was exceeded in %d of 200 runs", failures)
	}
	for word, samples := range map[WordID]int{-1: 10, 1: 0} {
		if _, err := Outputs(ctx, &drawn, word, samples, stream.FromUint64(1)); err == nil {
			t.Errorf("%d samples of word %d are accepted", samples, word)
		}
	}
}

func TestDocumentGuarantee(t *testing.T) {
	per := Guarantee{Metric: "euclidean", Epsilon: 1, EuclideanEpsilon: 1, Delta: 1e-3}
	if g := DocumentGuarantee(per, 5); !strings.HasPrefix(g, "document epsilon 5, metric euclidean") ||
		!strings.Contains(g, "delta 0.001, between texts of the same length") {
		t.Error(g)
	}
	if g := DocumentGuarantee(Guarantee{Reason: "it is broken"}, 5); g != "none: it is broken" {
		t.Errorf("a mechanism without a guarantee promises %s", g)
	}
}

// Between near words: the median of what is promised for each, in its metric.
func TestNear(t *testing.T) {
	s := spacetest.New(t, 1, []float32{0, 1, 2.5, 4.5, 4.5}) // nearest others at 1, 1, 1.5, 0, 0
	some := func(a, b WordID) bool { return a+b == 1 }
	for _, c := range []struct {
		g     Guarantee
		words []WordID
		want  float64
	}{
		{Guarantee{Metric: "euclidean", Distance: s.Distance}, []WordID{0, 1, 2}, 1},
		{Guarantee{Metric: "euclidean", Distance: s.Distance}, []WordID{3, 2, 4}, 0},
		{Guarantee{Metric: "discrete", Distance: Discrete}, []WordID{4, 2}, 1},
		{Guarantee{Metric: "discrete", Distance: Discrete, Covers: some}, []WordID{0, 1, 2}, 1},
		{Guarantee{Metric: "discrete", Distance: Discrete, Covers: some}, []WordID{0, 2, 3}, math.Inf(1)},
		{Guarantee{Reason: "it is broken."}, []WordID{0}, math.Inf(1)},
	} {
		if got := Near(c.g, c.words, nearest.Of(s).Others(c.words)); got != c.want {
			t.Errorf("metric %q, words %v: nearest other word at %v, want %v", c.g.Metric, c.words, got, c.want)
		}
	}
	alone := []WordID{0}
	others := nearest.Of(spacetest.New(t, 1, []float32{1})).Others(alone)
	if got := Near(Guarantee{Metric: "discrete", Distance: Discrete}, alone, others); !math.IsInf(got, 1) {
		t.Errorf("the only word has a neighbour at %v, want none", got)
	}
	for x, want := range map[float64]string{0.5: "1.65", 8: "2.98e+03", 400: "10^174"} {
		if got := Factor(x); got != want {
			t.Errorf("e^%v as %s", x, got)
		}
	}
}

// W e^W = x, with Re W ≥ −1 where W is real and 0 < Im W < π below the branch point:
// that is the principal branch.
func TestLambertW(t *testing.T) {
	for _, x := range []float64{-1e6, -100, -5, -math.Pi / 2, -1.5, -1, -0.5, -0.37, -0.3678, -0.36, -0.2, -1e-6, 0,
		1e-9, 0.1, 1, math.E, 10, 100, 1e4, 1e10, 1e100} {
		w := lambertW(x)
		if got := w * cmplx.Exp(w); cmplx.Abs(got-complex(x, 0)) > 1e-14*(1+cmplx.Abs(w))*math.Abs(x) ||
			real(w) < -1-1e-9 && x >= -1/math.E || (x >= -1/math.E) != (imag(w) == 0) || imag(w) < 0 || imag(w) >= math.Pi {
			t.Errorf("W(%v) = %v: W e^W = %v", x, w, got)
		}
	}
	if w := lambertW(math.MaxFloat64); math.Abs(real(w)-703.227033104770) > 1e-9 { // mpmath 1.3
		t.Errorf("W(max) = %v", w)
	}
}

func TestExtents(t *testing.T) {
	gaussian, duplicates := spacetest.Gaussian(t, 900, 3, 1, 48), spacetest.Gaussian(t, 300, 6, 1, 49)
	copy(duplicates.Vector(10), duplicates.Vector(20)) // distance 0 does not count
	copy(duplicates.Vector(11), duplicates.Vector(20))
	sphere := spacetest.Gaussian(t, 900, 3, 1, 50)
	for w := range WordID(900) {
		norm := float32(norm(sphere.Vector(w)))
		for i := range sphere.Vector(w) {
			sphere.Vector(w)[i] /= norm
		}
	}
	for _, s := range []*embeddings.Space{gaussian, duplicates, sphere} {
		want := extent{smallest: math.Inf(1)}
		for a := range WordID(s.Len()) {
			for b := range a {
				d := s.Distance(a, b)
				want.largest = max(want.largest, d)
				if d > 0 {
					want.smallest = min(want.smallest, d)
				}
			}
		}
		if got, err := extentOf(s); err != nil || got != want {
			t.Errorf("extent %+v, %v; want %+v", got, err, want)
		}
	}
	if _, err := extentOf(spacetest.New(t, 2, make([]float32, 8))); !errors.Is(err, errNoDistance) {
		t.Errorf("equal vectors: err = %v", err)
	}
}

// Lists of neighbours are the beginning of an order, with words that share a
// vector at its end, however they are made.
func TestNeighborLists(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 300, 3, 1, 72)
	for i := range WordID(100) {
		copy(s.Vector(100+i), s.Vector(200+i/10))
	}
	for _, w := range []WordID{0, 157, 299} {
		order, _ := orderFrom(s, w)
		for _, count := range []int{2, 7, 1, 50, 299, 300, 1000} {
			lists := neighborsOf(s, ownFirst)
			if w == 157 {
				lists.search(s.Vocabulary.IDs(), count)
			}
			got := lists.of(w, count)
			for i, c := range got {
				if len(got) != min(count, 300) || c.ID != order[i] || c.Distance != s.Distance(w, order[i]) {
					t.Fatalf("the first %d from %d: %v", count, w, got)
				}
			}
		}
	}
}
