package mechanisms

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// falseAlarm is the probability with which each statistical test of this
// package fails although the code is right. Seeds are fixed: a test that
// passes keeps passing.
const falseAlarm = 1e-6

var ctx = context.Background()

func mustNew(t testing.TB, env Environment, s Settings) *Mechanism {
	t.Helper()
	m, err := New(env, s)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// samplerOf is what a mechanism draws by.
func samplerOf[S sampler](t testing.TB, m *Mechanism) S {
	t.Helper()
	s, ok := m.sampler.(S)
	if !ok {
		t.Fatalf("%s draws by %T", m.settings.Mechanism, m.sampler)
	}
	return s
}

// sample privatises one word n times as documents of one word each.
func sample(m *Mechanism, word WordID, n int, seed stream.Seed) []int {
	counts := make([]int, m.Vocabulary().Len())
	src, dst := make([]WordID, n), make([]WordID, n)
	for i := range src {
		src[i] = word
	}
	if err := m.Privatize(context.Background(), dst, src, seed.Rand()); err != nil {
		panic(err) // no mechanism of these tests can fail
	}
	for _, w := range dst {
		counts[w]++
	}
	return counts
}

// requireFit fails where counts are not a sample of p, by a G-test that fails a
// true sample with probability falseAlarm. Cells expecting fewer than 20 are
// merged; an impossible output fails at once.
func requireFit(t *testing.T, name string, counts []int, p []float64) {
	t.Helper()
	var total int
	for _, c := range counts {
		total += c
	}
	var g, restExpected float64
	var cells, restCount int
	for i, c := range counts {
		expected := p[i] * float64(total)
		if p[i] == 0 && c > 0 {
			t.Errorf("%s: output %d came %d times and has probability 0", name, i, c)
		}
		if expected < 20 {
			restExpected += expected
			restCount += c
			continue
		}
		cells++
		g += gTerm(c, expected)
	}
	if restExpected >= 20 {
		cells++
		g += gTerm(restCount, restExpected)
	} else if limit := (distuv.Poisson{Lambda: restExpected + 1}); limit.Survival(float64(restCount)) < falseAlarm {
		t.Errorf("%s: %d rare outputs, expected %.3g", name, restCount, restExpected)
	}
	if cells < 2 {
		return
	}
	if pValue := (distuv.ChiSquared{K: float64(cells - 1)}).Survival(g); pValue < falseAlarm {
		t.Errorf("%s: G = %.1f over %d cells, p = %.2g", name, g, cells, pValue)
	}
}

func gTerm(count int, expected float64) float64 {
	if count == 0 {
		return 0
	}
	return 2 * float64(count) * math.Log(float64(count)/expected)
}

// requireSameDistribution fails where two samples of equal size have
// different distributions (G-test of homogeneity at falseAlarm).
func requireSameDistribution(t *testing.T, name string, a, b []int) {
	t.Helper()
	var g float64
	var cells, restA, restB int
	pair := func(a, b int) {
		mean := float64(a+b) / 2
		cells++
		g += gTerm(a, mean) + gTerm(b, mean)
	}
	for i := range a {
		if a[i]+b[i] >= 40 {
			pair(a[i], b[i])
			continue
		}
		restA, restB = restA+a[i], restB+b[i]
	}
	if restA+restB >= 40 {
		pair(restA, restB)
	}
	if pValue := (distuv.ChiSquared{K: float64(max(cells-1, 1))}).Survival(g); pValue < falseAlarm {
		t.Errorf("%s: G = %.1f over %d cells, p = %.2g", name, g, cells, pValue)
	}
}

// requireUniform fails where x, which it sorts, is not a sample of the uniform law
// on [0, 1], by Kolmogorov's distance D with the DKW bound: Pr[D > d] ≤
// 2·exp(−2nd²).
func requireUniform(t *testing.T, name string, x []float64) {
	t.Helper()
	slices.Sort(x)
	n, d := float64(len(x)), 0.0
	for i, v := range x {
		d = max(d, math.Abs(v-float64(i)/n), math.Abs(v-float64(i+1)/n))
	}
	if limit := math.Sqrt(math.Log(2/falseAlarm) / (2 * n)); !(d <= limit) {
		t.Errorf("%s: Kolmogorov distance %v > %v", name, d, limit)
	}
}

// normalQuantile is the two-sided z of falseAlarm.
var normalQuantile = distuv.UnitNormal.Quantile(1 - falseAlarm/2)

// requireMean fails where the mean of x is not that of a law with this mean and
// standard deviation.
func requireMean(t *testing.T, name string, x []float64, mean, deviation float64) {
	t.Helper()
	room := normalQuantile * deviation / math.Sqrt(float64(len(x)))
	if got := stat.Mean(x, nil); !(math.Abs(got-mean) <= room) {
		t.Errorf("%s: mean %v, want %v ± %v", name, got, mean, room)
	}
}

// lawOf is the exact distribution of a word.
func lawOf(t testing.TB, m *Mechanism, word WordID) []float64 {
	t.Helper()
	d, err := m.Row(word)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// requireLaw makes a mechanism and fails where the distribution of a word is not
// proportional to weights.
func requireLaw(t *testing.T, env Environment, s Settings, word string, weights ...float64) *Mechanism {
	t.Helper()
	m := mustNew(t, env, s)
	got, sum := lawOf(t, m, m.Vocabulary().ID(word)), floats.Sum(weights)
	for y := range got {
		if len(got) != len(weights) || !(math.Abs(got[y]-weights[y]/sum) <= 1e-12) {
			t.Errorf("%s %s %s, %s: %v, want %v / %v", s.Mechanism, s.Variant, s.Parameters, word, got, weights, sum)
			break
		}
	}
	return m
}

// requireShape fails where a root is not one of λΣ + (1−λ)I, Σ the covariance of
// rows over a divisor; it returns the matrix.
func requireShape(t *testing.T, root *kernel.Panels, rows *mat.Dense, lambda, divisor float64) *mat.SymDense {
	t.Helper()
	_, p := rows.Dims()
	var want mat.SymDense
	stat.CovarianceMatrix(&want, rows, nil)
	want.ScaleSym(lambda/divisor, &want)
	for i := range p {
		want.SetSym(i, i, want.At(i, i)+1-lambda)
	}
	var got mat.Dense
	l := mat.NewDense(p, p, slices.Concat(rowsOf(root, p)...))
	if got.Mul(l, l.T()); !mat.EqualApprox(&got, &want, 1e-5) {
		t.Errorf("LLᵀ = %v, want %v", mat.Formatted(&got), mat.Formatted(&want))
	}
	return &want
}

// meanVariance is that of the columns.
func meanVariance(rows *mat.Dense) float64 {
	var covariance mat.SymDense
	stat.CovarianceMatrix(&covariance, rows, nil)
	return mat.Trace(&covariance) / float64(covariance.SymmetricDim())
}

// rowsOf are the vectors of panels, of so many dimensions.
func rowsOf(p *kernel.Panels, dimension int) [][]float64 {
	rows := make([][]float64, p.Len())
	dst := make([]float64, kernel.PairRows*p.Stride())
	for k := range dimension {
		unit := make([]float64, dimension)
		unit[k] = 1
		p.InnerProducts64(dst, unit)
		for i := range rows {
			rows[i] = append(rows[i], dst[i])
		}
	}
	return rows
}

// unevenSpace is a space with vectors of different lengths, some in the same
// or opposite directions, equal ones, and two of no direction.
func unevenSpace(t testing.TB, n, dimension int, seed uint64) *embeddings.Space {
	t.Helper()
	vectors := spacetest.Gaussian(t, n, dimension, 1, seed).Vectors
	vector := func(w int) []float32 { return vectors[w*dimension : (w+1)*dimension] }
	for w := range n {
		factor := float32(math.Exp(float64(w%11) - 5))
		switch w % 50 {
		case 20:
			copy(vector(w), vector(w-10))
		case 30:
			copy(vector(w), vector(w-23))
			factor = -3
		case 40:
			copy(vector(w), vector(w-33))
		}
		for i := range vector(w) {
			vector(w)[i] *= factor
		}
	}
	clear(vector(7)) // an output
	clear(vector(13))
	return spacetest.New(t, dimension, vectors)
}

// scaled is a Gaussian space whose vectors are multiplied by a factor.
func scaled(s *embeddings.Space, factor float32) *embeddings.Space {
	for i := range s.Vectors {
		s.Vectors[i] *= factor
	}
	return s
}

// textOf is PrivatizeText with all that tests vary.
func textOf(ctx context.Context, m *Mechanism, policy Policy, documents [][]string, seed stream.Seed,
	workers int) ([][]string, error) {
	return PrivatizeText(ctx, m, documents, TextOptions{Policy: policy, Seed: seed, Workers: workers})
}
