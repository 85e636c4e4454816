package mechanisms

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// lawOf is the exact distribution of a word.
func lawOf(t *testing.T, m *Mechanism, word WordID) []float64 {
	t.Helper()
	d, err := m.Row(word)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func requireLaw(t *testing.T, name string, got, want []float64, tolerance float64) {
	t.Helper()
	for y := range want {
		if len(got) != len(want) || math.Abs(got[y]-want[y]) > tolerance {
			t.Errorf("%s: %v, want %v", name, got, want)
			return
		}
	}
}

func TestBaselines(t *testing.T) {
	s := spacetest.New(t, 1, []float32{0, 1, 5, 9})
	env := Environment{Space: s}
	for name, want := range map[string][]float64{
		"identity": {0, 1, 0, 0},
		"uniform":  {.25, .25, .25, .25},
		"delete":   {0, 0, 0, 0, 1},
	} {
		requireLaw(t, name, lawOf(t, mustNew(t, env, Settings{Mechanism: name, Epsilon: 2}), 1), want, 1e-15)
	}
	out, err := PrivatizeText(context.Background(), mustNew(t, env, Settings{Mechanism: "delete", Epsilon: 1}),
		[][]string{{"w1", "w2"}, {}}, TextOptions{})
	if err != nil || len(out[0]) != 0 || len(out[1]) != 0 {
		t.Errorf("deleted: %q, %v", out, err)
	}
	// e^ε/(e^ε+3) with e^ε = 3: a half, and a sixth for each other word.
	m := mustNew(t, env, Settings{Mechanism: "k-rr", Epsilon: math.Log(3)})
	requireLaw(t, "k-rr", lawOf(t, m, 2), []float64{1. / 6, 1. / 6, .5, 1. / 6}, 1e-15)
}

func TestCusTextByHand(t *testing.T) {
	// The corpus has w3 most often: it, w2 (at 2) and w1 (at 8) are a group;
	// then w0 and w4. Scores of w3: 1, 1 − 2/9, 0.
	s := spacetest.New(t, 1, []float32{0, 1, 8, 10, 30})
	env := Environment{Space: s, Documents: [][]string{{"w3", "w0", "w3", "stranger"}}}
	const epsilon = 2.0
	m := mustNew(t, env, Settings{Mechanism: "custext", Epsilon: epsilon, Parameters: Parameters{"k": 3.0}})
	weight := func(u float64) float64 { return math.Exp(epsilon / 2 * u) }
	sum := weight(1) + weight(7./9) + weight(0)
	requireLaw(t, "w3", lawOf(t, m, 3), []float64{0, weight(0) / sum, weight(7./9) / sum, weight(1) / sum, 0}, 1e-12)
	sum = weight(1) + weight(0) // the last group has two words
	requireLaw(t, "w0", lawOf(t, m, 0), []float64{weight(1) / sum, 0, 0, 0, weight(0) / sum}, 1e-12)
	g := m.Guarantee()
	if !g.Promises(1, 3) || g.Promises(0, 1) || !strings.Contains(g.Scope, "2 groups") {
		t.Errorf("guarantee %s", g)
	}
	// Its own nearest: of w2 these are w2, w3 (at 2) and w1 (at 7).
	m = mustNew(t, env, Settings{Mechanism: "custext", Variant: Released, Epsilon: epsilon,
		Parameters: Parameters{"k": 3.0}})
	sum = weight(1) + weight(5./7) + weight(0)
	requireLaw(t, "w2 released", lawOf(t, m, 2), []float64{0, weight(0) / sum, weight(1) / sum, weight(5./7) / sum, 0},
		1e-12)
	// One group of all words needs no scope; equal vectors are drawn alike.
	m = mustNew(t, env, Settings{Mechanism: "custext", Epsilon: epsilon, Parameters: Parameters{"k": 5.0}})
	if g := m.Guarantee(); g.Scope != "" || !g.Promises(0, 4) {
		t.Errorf("one group: %s", g)
	}
	same := spacetest.New(t, 1, []float32{4, 4})
	requireLaw(t, "equal vectors", lawOf(t, mustNew(t, Environment{Space: same},
		Settings{Mechanism: "custext", Epsilon: 9}), 0), []float64{.5, .5}, 1e-15)
	for _, k := range []float64{0, -1, 2.5} {
		if _, err := New(env, Settings{Mechanism: "custext", Epsilon: 1, Parameters: Parameters{"k": k}}); err == nil {
			t.Errorf("k = %v is accepted", k)
		}
	}
}

func TestSanTextPlusByHand(t *testing.T) {
	// By falling count: w1 (3), stranger (2), w0 (1, first), w3 (1), and w2,
	// which never occurs. Of these five the rarest share .6 is w0, w3 and w2.
	s := spacetest.New(t, 1, []float32{0, 2, 3, 7})
	env := Environment{Space: s, Documents: [][]string{{"w1", "stranger", "w1"}, {"w0", "w3", "w1", "stranger"}}}
	const epsilon, p = 0.5, 0.25
	m := mustNew(t, env, Settings{Mechanism: "santext-plus", Epsilon: epsilon,
		Parameters: Parameters{"w": 0.6, "p": p}})
	e := func(d float64) float64 { return math.Exp(-epsilon / 2 * d) }
	sum := e(3) + 1 + e(4) // from w2 at 3
	requireLaw(t, "sensitive", lawOf(t, m, 2), []float64{e(3) / sum, 0, 1 / sum, e(4) / sum}, 1e-12)
	sum = e(2) + e(1) + e(5) // from w1 at 2
	requireLaw(t, "kept", lawOf(t, m, 1), []float64{p * e(2) / sum, 1 - p, p * e(1) / sum, p * e(5) / sum}, 1e-12)
	g := m.Guarantee()
	if !g.Promises(0, 3) || g.Promises(0, 1) || g.Promises(1, 2) || g.Scope == "" || g.EuclideanEpsilon != 0 {
		t.Errorf("guarantee %s", g)
	}
	// All words sensitive: SanText.
	all := mustNew(t, env, Settings{Mechanism: "santext-plus", Epsilon: epsilon, Parameters: Parameters{"w": 1.0}})
	plain := mustNew(t, env, Settings{Mechanism: "santext", Epsilon: epsilon})
	requireLaw(t, "w = 1", lawOf(t, all, 1), lawOf(t, plain, 1), 1e-15)
	if g := all.Guarantee(); g.Scope != "" || g.EuclideanEpsilon != epsilon {
		t.Errorf("w = 1: %s", g)
	}
	never := mustNew(t, env, Settings{Mechanism: "santext-plus", Epsilon: epsilon,
		Parameters: Parameters{"w": 0.6, "p": 0.0}})
	requireLaw(t, "p = 0", lawOf(t, never, 1), []float64{0, 1, 0, 0}, 0)
	for _, bad := range []Parameters{{"w": 0.0}, {"w": 1.5}, {"p": -0.1}, {"w": 0.01}} {
		if _, err := New(env, Settings{Mechanism: "santext-plus", Epsilon: 1, Parameters: bad}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

func TestDiffractorByHand(t *testing.T) {
	// The list is w0 w2 w1 w3.
	s := spacetest.New(t, 1, []float32{0, 2, 1, 9})
	env := Environment{Space: s, Seed: stream.FromUint64(3)}
	epsilon := math.Log(2) // α = 1/2: Pr[Z=z] = 1/3·2^{−|z|}, Pr[Z ≥ k] = 2/3·2^{−k}
	m := mustNew(t, env, Settings{Mechanism: "diffractor", Epsilon: epsilon})
	requireLaw(t, "from place 1", lawOf(t, m, 2), []float64{1. / 3, 1. / 6, 1. / 3, 1. / 6}, 1e-12)
	requireLaw(t, "from the end", lawOf(t, m, 3), []float64{1. / 12, 1. / 6, 1. / 12, 2. / 3}, 1e-12)
	g := m.Guarantee()
	if g.Metric != "list" || g.Distance(0, 1) != 2 || g.Distance(2, 2) != 0 || g.Distance(3, 0) != 3 {
		t.Errorf("guarantee %s: d(0,1) = %v", g, g.Distance(0, 1))
	}
	for n := 1; n <= 3; n++ {
		small := Environment{Space: spacetest.New(t, 1, []float32{0, 1, 2}[:n]), Seed: env.Seed}
		want := [][]float64{{1}, {2. / 3, 1. / 3}, {2. / 3, 1. / 6, 1. / 6}}[n-1]
		requireLaw(t, fmt.Sprint(n, " words"), lawOf(t,
			mustNew(t, small, Settings{Mechanism: "diffractor", Epsilon: epsilon}), 0), want, 1e-12)
	}
	for _, bad := range []Parameters{{"form": "tem"}, {"gamma": 6.0}, {"lists": 0.0}, {"lists": 17.0}} {
		if _, err := New(env, Settings{Mechanism: "diffractor", Epsilon: 1, Parameters: bad}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// Several lists: the law is the mean of their laws, the distance the largest.
func TestDiffractorLists(t *testing.T) {
	s := spacetest.Gaussian(t, 40, 3, 1, 61)
	env := Environment{Space: s, Seed: stream.FromUint64(4)}
	m := mustNew(t, env, Settings{Mechanism: "diffractor", Epsilon: 1, Parameters: Parameters{"lists": 3.0}})
	rng := env.Seed.Derive("diffractor", "start").Rand()
	want := make([]float64, 40)
	farthest := 0.0
	for i := range 3 {
		start := WordID(0)
		if i > 0 {
			start = WordID(rng.IntN(40))
		}
		chain := plainChain(s, start)
		from, other := slices.Index(chain, 7), slices.Index(chain, 30)
		farthest = max(farthest, math.Abs(float64(from-other)))
		for j, y := range chain {
			p := math.Tanh(.5) * math.Exp(-math.Abs(float64(j-from)))
			if j == 0 || j == 39 {
				p = math.Exp(-math.Abs(float64(j-from))) / (1 + math.Exp(-1))
			}
			want[y] += p / 3
		}
	}
	requireLaw(t, "three lists", lawOf(t, m, 7), want, 1e-12)
	if d := m.Guarantee().Distance(7, 30); d != farthest {
		t.Errorf("distance %v, want %v", d, farthest)
	}
}

// The rank fix is exact given the law of x*: on the line that is an integral.
func TestRankFixOnTheLine(t *testing.T) {
	points := []float64{-3, -1, 0, 0.5, 2, 4}
	s := spacetest.New(t, 1, []float32{-3, -1, 0, 0.5, 2, 4})
	const epsilon, c, word, cells = 0.8, 0.7, 2, 100000
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "rank-fix", Epsilon: epsilon,
		Parameters: Parameters{"c": c}})
	star := make([]float64, len(points))
	for i := range cells {
		u := (float64(i)+.5)/cells - .5
		x := points[word] - math.Copysign(math.Log(1-2*math.Abs(u)), u)/epsilon
		best := 0
		for j, p := range points {
			if math.Abs(p-x) < math.Abs(points[best]-x) {
				best = j
			}
		}
		star[best] += 1. / cells
	}
	want := make([]float64, len(points))
	for x, p := range star {
		order := []int{0, 1, 2, 3, 4, 5}
		slices.SortStableFunc(order, func(a, b int) int {
			return int(math.Copysign(1, math.Abs(points[a]-points[x])-math.Abs(points[b]-points[x])))
		})
		var sum float64
		for r := range order {
			sum += math.Exp(-c * epsilon * float64(r))
		}
		for r, y := range order {
			want[y] += p * math.Exp(-c*epsilon*float64(r)) / sum
		}
		requireLaw(t, "given x*", samplerOf[*rankFix](t, m).given(WordID(x))[order[0]:order[0]+1], []float64{1 / sum}, 1e-12)
	}
	requireFit(t, "rank-fix", sample(m, word, 200000, stream.FromUint64(64)), want)
	for _, bad := range []Parameters{{"c": 0.0}, {"base": "santext"}, {"base": "nothing"}, {"base": "privemb"}} {
		if _, err := New(Environment{Space: s}, Settings{Mechanism: "rank-fix", Epsilon: 1,
			Parameters: bad}); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// Lists of neighbours are the beginning of an order, with words that share a
// vector at its end, however they are made.
func TestNeighborLists(t *testing.T) {
	s := spacetest.Gaussian(t, 300, 3, 1, 72)
	for i := range WordID(100) {
		copy(s.Vector(100+i), s.Vector(200+i/10))
	}
	for _, w := range []WordID{0, 150, 299} {
		order, _ := orderFrom(s, w)
		for _, count := range []int{1, 2, 7, 50, 299, 300, 1000} {
			lists := neighborsOf(s, count, true)
			if w == 150 {
				lists.every()
			}
			for i, c := range lists.of(w) {
				if len(lists.of(w)) != min(count, 300) || c.ID != order[i] || c.Distance != s.Distance(w, order[i]) {
					t.Fatalf("the first %d from %d: %v", count, w, lists.of(w))
				}
			}
		}
	}
}

// Ranks beyond the stored ones come from the same law.
func TestRankFixFarRanks(t *testing.T) {
	s := spacetest.Gaussian(t, 3*keptRanks, 3, 1, 65)
	m := mustNew(t, Environment{Space: s}, Settings{Mechanism: "rank-fix", Epsilon: 1e6,
		Parameters: Parameters{"c": 1e-9}})
	// ε so large that x* is the word itself; c·ε = 0.001.
	requireFit(t, "far ranks", sample(m, 5, 20000, stream.FromUint64(66)), samplerOf[*rankFix](t, m).given(5))
}

// Groups, lists and orders are the same when built one after another or
// concurrently.
func TestDerivedStructuresAreShared(t *testing.T) {
	t.Parallel()
	documents := [][]string{{"w3", "w3", "w9", "w700"}}
	build := func() (*groups, []WordID) {
		s := spacetest.Gaussian(t, 900, 8, 1, 70)
		order := byFrequency(Environment{Space: s, Documents: documents})
		var g *groups
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { groupsOf(s, order, 7) })
		}
		wg.Wait()
		g = groupsOf(s, order, 7)
		return g, chainOf(s, 3)
	}
	g, chain := build()
	for range 3 {
		again, list := build()
		if !slices.Equal(list, chain) || !slices.Equal(again.of, g.of) {
			t.Fatal("built again, they differ")
		}
	}
}

// Rows made together are, bit for bit, those of Distribution.
func TestRows(t *testing.T) {
	t.Parallel()
	env := Environment{Space: spacetest.Gaussian(t, 50, 3, 1, 72), Documents: [][]string{{"w1", "w2"}}}
	for _, name := range []string{"santext", "santext-plus", "custext", "k-rr", "diffractor"} {
		d := mustNew(t, env, Settings{Mechanism: name, Epsilon: 2})
		for _, n := range []int{1, 4, 7} {
			rows, err := d.Rows(3, n)
			if err != nil || len(rows) != n {
				t.Fatalf("%s: %d rows, %v", name, len(rows), err)
			}
			for i, row := range rows {
				if p, err := d.Row(WordID(3 + i)); err != nil || !slices.Equal(p, row) {
					t.Errorf("%s: the row of word %d differs, %v", name, 3+i, err)
				}
			}
		}
		if _, err := d.Rows(48, 4); err == nil {
			t.Errorf("%s: rows beyond the vocabulary", name)
		}
	}
}

// given returns the distribution of the output, given the base's output x*.
func (m *rankFix) given(star WordID) []float64 {
	order, _ := orderFrom(m.base.space, star)
	p := make([]float64, len(order))
	var sum float64
	for r := range order {
		sum += math.Exp(-m.decay * m.epsilon * float64(r))
	}
	for r, y := range order {
		p[y] = math.Exp(-m.decay*m.epsilon*float64(r)) / sum
	}
	return p
}
