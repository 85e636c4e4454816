package mechanisms

import (
	"cmp"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// naiveRun computes what AsRun is defined as, word by word and in the plainest
// way, over rows of float64 vectors: it shares no code with it.
type naiveRun struct {
	words []string    // rows 1 to V at 0 to V−1
	rows  [][]float64 // row 0 is zero
	has   map[string]bool
}

// newNaiveRun has 50 dimensions, for which the study's code states the
// constants of the truncated Gumbel mechanism, ten words of which three have no
// vector, and two words of one vector.
func newNaiveRun(t *testing.T) (naiveRun, Environment) {
	s := spacetest.Gaussian(t, 10, 50, 0.5, 61)
	copy(s.Vectors[7*50:8*50], s.Vectors[1*50:2*50]) // w7 is where w1 is
	text := "w3 w3 x w3 x w1 w7 w3 x x w1 w7 y w3 x w1 w7 y w0 w5 w3 w1 w7 y z w9 w2 w0 w5"
	env := environment(s)
	env.Documents, env.Train = [][]string{{"w4", "not", "read"}}, [][]string{nil, strings.Fields(text)}
	n := naiveRun{words: strings.Fields("w3 x w1 w7 y w0 w5 z w9 w2"), has: map[string]bool{}}
	n.rows = append(n.rows, make([]float64, 50))
	for _, w := range n.words {
		row := make([]float64, 50)
		if id := s.Vocabulary.ID(w); id != embeddings.Unknown {
			n.has[w] = true
			for i, x := range s.Vector(id) {
				row[i] = float64(x)
			}
		}
		n.rows = append(n.rows, row)
	}
	return n, env
}

// row is the index of a word's row.
func (n naiveRun) row(w string) int { return slices.Index(n.words, w) + 1 }

func naiveDistance(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		sum += (x - b[i]) * (x - b[i])
	}
	return math.Sqrt(sum)
}

// near returns the rows from first on by distance from v, the first row first
// among equals.
func (n naiveRun) near(v []float64, first int) []int {
	type row struct {
		distance float64
		index    int
	}
	var all []row
	for i := first; i < len(n.rows); i++ {
		all = append(all, row{naiveDistance(v, n.rows[i]), i})
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.distance, b.distance) })
	return list.Map(all, func(r row) int { return r.index })
}

// noisy adds noise of density ∝ exp(−ε‖z‖): the length of the noise is a sum of
// exponential variables.
func noisy(v []float64, epsilon float64, rng *rand.Rand) []float64 {
	z, norm, length := make([]float64, len(v)), 0.0, 0.0
	for i := range z {
		z[i] = rng.NormFloat64()
		norm += z[i] * z[i]
		length += rng.ExpFloat64() / epsilon
	}
	for i := range z {
		z[i] = v[i] + z[i]*length/math.Sqrt(norm)
	}
	return z
}

func (n naiveRun) cmp(w string, epsilon float64, rng *rand.Rand) string {
	best := n.near(noisy(n.rows[n.row(w)], epsilon, rng), 0)[0]
	if best == 0 {
		return w
	}
	return n.words[best-1]
}

func (n naiveRun) vickrey(w string, epsilon float64, rng *rand.Rand) string {
	v := noisy(n.rows[n.row(w)], epsilon, rng)
	near := n.near(v, 1)
	a, b := math.Exp(-0.5*naiveDistance(v, n.rows[near[1]])), math.Exp(-0.5*naiveDistance(v, n.rows[near[2]]))
	if rng.Float64() < a/(a+b) {
		return n.words[near[1]-1]
	}
	return n.words[near[2]-1]
}

// tem adds Gumbel noise to the scores, as the mechanism is printed.
func (n naiveRun) tem(w string, epsilon float64, rng *rand.Rand) string {
	size := float64(len(n.words))
	gamma := math.Round(10*2/epsilon*math.Log((1-0.001)*(size+1)/0.001)) / 10
	noise := func() float64 { return -2 / epsilon * math.Log(rng.ExpFloat64()) }
	var within, beyond []string
	best, score := "", math.Inf(-1)
	for i, y := range n.words {
		d := naiveDistance(n.rows[n.row(w)], n.rows[i+1])
		if d > gamma {
			beyond = append(beyond, y)
			continue
		}
		within = append(within, y)
		if s := -d + noise(); s > score {
			best, score = y, s
		}
	}
	if len(beyond) > 0 && -gamma+2/epsilon*math.Log(size/float64(len(within)))+noise() > score {
		return beyond[rng.IntN(len(beyond))]
	}
	return best
}

// gumbel takes the constants of AG News at 50 dimensions.
func (n naiveRun) gumbel(w string, epsilon float64, rng *rand.Rand) string {
	const largest, smallest = 13.526640006274114, 0.3513605074973775
	alpha := (epsilon - 2*(1+math.Log(float64(len(n.words))))/smallest) / 3
	// W of 2αΔ by Newton's iteration on w + ln w = ln x.
	x := cmplx.Log(complex(2*alpha*largest, 0))
	lambert := x
	for range 200 {
		lambert -= (lambert + cmplx.Log(lambert) - x) * lambert / (lambert + 1)
	}
	b := 2 * largest / real(lambert)
	k, p := 0, rng.Float64() // Knuth's product of uniform numbers
	for p > 1/float64(len(n.words)) {
		p *= rng.Float64()
		k++
	}
	if k > len(n.words) {
		return n.gumbel(w, epsilon, rng)
	}
	best, cost := w, math.Inf(1)
	v := n.rows[n.row(w)]
	for _, i := range n.near(v, 1)[:k] {
		g := math.Inf(1)
		for math.Abs(g) > largest {
			g = -b * math.Log(rng.ExpFloat64())
		}
		if c := naiveDistance(v, n.rows[i]) + g; c < cost {
			best, cost = n.words[i-1], c
		}
	}
	return best
}

// Samples of the naive computations and of the mechanisms have one
// distribution (each comparison fails a right mechanism with probability
// falseAlarm).
func TestAsRunEqualsTheNaiveComputation(t *testing.T) {
	t.Parallel()
	n, env := newNaiveRun(t)
	for _, c := range []struct {
		mechanism string
		epsilons  []float64
		naive     func(w string, epsilon float64, rng *rand.Rand) string
	}{
		{"cmp", []float64{4, 12, 30}, n.cmp},
		{"vickrey", []float64{4, 12, 30}, n.vickrey},
		{"tem", []float64{1, 4, 8}, n.tem},
		{"gumbel", []float64{1, 10}, n.gumbel},
	} {
		for _, epsilon := range c.epsilons {
			s := Settings{Mechanism: c.mechanism, Variant: AsRun, Epsilon: epsilon}
			if c.mechanism == "gumbel" {
				s.Parameters = Parameters{"extent": "agnews-2024"}
			}
			m := mustNew(t, env, s)
			for _, w := range []string{"w3", "w7", "w9"} {
				const runs = 10000
				rng, id := stream.FromUint64(62).Derive(c.mechanism, w).At(uint64(epsilon)).Rand(), m.Vocabulary().ID(w)
				want := make([]int, m.Vocabulary().Len())
				for range runs {
					want[m.Vocabulary().ID(c.naive(w, epsilon, rng))]++
				}
				requireSameDistribution(t, c.mechanism+" "+w, sample(m, id, runs, stream.FromUint64(63)), want)
				if m.Closed() {
					p := lawOf(t, m, id)
					floats.AddConst(1e-15, p) // rare words underflow
					requireFit(t, c.mechanism+" "+w, want, p)
				}
			}
		}
	}
}

// SanText: the probabilities of rows 0 to V by three coordinates, read with the
// list w3 w1 w7 w0 w5 w9 w2 of the words that have a vector.
func TestAsRunSanText(t *testing.T) {
	n, env := newNaiveRun(t)
	list := strings.Fields("w3 w1 w7 w0 w5 w9 w2")
	for _, epsilon := range []float64{0.5, 3, 20} {
		s := Settings{Mechanism: "santext", Variant: AsRun, Epsilon: epsilon}
		v := mustNew(t, env, s).Vocabulary()
		for _, w := range list {
			weights := make([]float64, v.Len())
			for i, row := range n.rows {
				y := w
				if i < len(list) {
					y = list[i]
				}
				weights[v.ID(y)] += math.Exp(-epsilon / 2 * naiveDistance(n.rows[n.row(w)][:3], row[:3]))
			}
			requireLaw(t, env, s, w, weights...)
		}
	}
}

// Mahalanobis is CMP at λ = 0, and its noise has the covariance of the whole
// matrix, rows of zeros included.
func TestAsRunMahalanobis(t *testing.T) {
	n, env := newNaiveRun(t)
	at := func(name string, p Parameters) *Mechanism {
		return mustNew(t, env, Settings{Mechanism: name, Variant: AsRun, Epsilon: 12, Parameters: p})
	}
	plain, none := at("cmp", nil), at("mahalanobis", Parameters{"lambda": 0.0})
	w := plain.Vocabulary().ID("w3")
	requireSameDistribution(t, "λ = 0", sample(plain, w, 20000, stream.FromUint64(65)),
		sample(none, w, 20000, stream.FromUint64(66)))
	shape := at("mahalanobis", nil).sampler.(*restricted).inner.sampler.(*projector).shape
	rows := mat.NewDense(len(n.rows), 50, slices.Concat(n.rows...))
	requireShape(t, shape, rows, 0.2, meanVariance(rows))
}

// Words without a vector, and words that the train texts lack, come back; they
// are in the vocabulary, after the words of the space.
func TestAsRunLeavesWordsWithoutAVector(t *testing.T) {
	_, env := newNaiveRun(t)
	env.DataSet = "agnews-2024"
	for _, name := range []string{"cmp", "mahalanobis", "vickrey", "tem", "santext", "gumbel"} {
		m := mustNew(t, env, Settings{Mechanism: name, Variant: AsRun, Epsilon: 2})
		if v := m.Vocabulary(); v.Len() != 13 || v.Word(3) != "w3" || v.Word(10) != "x" {
			t.Errorf("%s: vocabulary %q", name, v.Words())
		}
		for _, w := range []string{"x", "y", "z", "w4"} {
			id := m.Vocabulary().ID(w)
			if c := sample(m, id, 200, stream.FromUint64(1)); c[id] != 200 {
				t.Errorf("%s: %s does not stay", name, w)
			}
			if m.Closed() && lawOf(t, m, id)[id] != 1 {
				t.Errorf("%s: Pr[%s stays] is not 1", name, w)
			}
		}
	}
	env.Train, env.Documents = nil, nil
	if _, err := New(env, Settings{Mechanism: "cmp", Variant: AsRun, Epsilon: 2}); err == nil {
		t.Error("no train texts are accepted")
	}
	env.Train = [][]string{nil}
	if _, err := New(env, Settings{Mechanism: "cmp", Variant: AsRun, Epsilon: 2}); err == nil {
		t.Error("train texts without words are accepted")
	}
}

// The extent is what the code states for the data set at hand; for any other
// data set it is computed.
func TestRunExtent(t *testing.T) {
	_, env := newNaiveRun(t)
	scale := func(data, parameter string) float64 {
		env.DataSet = data
		m := mustNew(t, env, Settings{Mechanism: "gumbel", Variant: AsRun, Epsilon: 1,
			Parameters: Parameters{"extent": parameter}})
		rows, err := runRowsOf(env, 50, func(m *runMatrix) []WordID { return m.ranked })
		if err != nil {
			t.Fatal(err)
		}
		e, source, err := runExtent(env, m.Settings(), rows.space)
		if g := m.Guarantee(); err != nil || g.Holds() || !strings.Contains(g.Reason, "distances "+source) {
			t.Errorf("guarantee %s, %v", g, err)
		}
		return e.largest
	}
	const news, films = 13.526640006274114, 15.329304595006077
	if scale("agnews-2024", "data set") != news || scale("imdb-2024", "data set") != films ||
		scale("imdb-2024", "agnews-2024") != news {
		t.Error("the constants of a data set are not taken")
	}
	if x := scale("other", "data set"); x == news || x != scale("agnews-2024", "space") {
		t.Error("the extent of the space is not taken")
	}
	for _, bad := range []string{"other", ""} {
		if _, err := New(env, Settings{Mechanism: "gumbel", Variant: AsRun, Epsilon: 1,
			Parameters: Parameters{"extent": bad}}); err == nil {
			t.Errorf("extent %q is accepted", bad)
		}
	}
}

// The matrix is of what the texts say: the same slice with other texts is another,
// the same texts in another slice are not.
func TestRunMatrixIsOfItsTexts(t *testing.T) {
	s := spacetest.Gaussian(t, 30, 5, 1, 52)
	of := func(train [][]string) *runMatrix {
		m, err := runMatrixOf(Environment{Space: s, Train: train})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	train := [][]string{{"w1", "w2"}, {"w3"}}
	first := of(train)
	if of([][]string{{"w1", "w2"}, {"w3"}}) != first || of([][]string{{"w1"}, {"w2", "w3"}}) == first {
		t.Error("texts are not told apart by what they say")
	}
	train[0][0] = "w9"
	if second := of(train); second == first || second.has[1] {
		t.Error("a slice used for other texts gives the matrix of the first")
	}
}
