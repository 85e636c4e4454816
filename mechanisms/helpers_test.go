package mechanisms

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/realdata"
	"mldpbench/stream"
)

// falseAlarm is the probability with which each statistical test of this
// package fails although the code is right. Seeds are fixed: a test that
// passes keeps passing.
const falseAlarm = 1e-6

// glove are the first 27,000 words of GloVe 6B 100d, read once.
var glove struct {
	once  sync.Once
	space *embeddings.Space
	err   error
}

func gloveSpace(t testing.TB) *embeddings.Space {
	t.Helper()
	file := realdata.File(t, "glove.6B.100d.subset.txt.gz")
	glove.once.Do(func() {
		var s *embeddings.Space
		if s, glove.err = embeddings.Load(context.Background(), file, embeddings.LoadOptions{}); glove.err == nil {
			glove.space, glove.err = s.Restrict(func(w string) bool { return s.Vocabulary.ID(w) < 27000 })
		}
	})
	if glove.err != nil {
		t.Fatal(glove.err)
	}
	return glove.space
}

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

// texts are copies of documents, each with a generator of its own.
func texts(words [][]WordID, epsilon float64, seed stream.Seed) []Document {
	all := make([]Document, len(words))
	for i, w := range words {
		all[i] = Document{slices.Clone(w), epsilon, seed.At(uint64(i)).Rand()}
	}
	return all
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
	for i := range a {
		if a[i]+b[i] < 40 {
			restA += a[i]
			restB += b[i]
			continue
		}
		cells++
		g += gPair(a[i], b[i])
	}
	if restA+restB >= 40 {
		cells++
		g += gPair(restA, restB)
	}
	if pValue := (distuv.ChiSquared{K: float64(max(cells-1, 1))}).Survival(g); pValue < falseAlarm {
		t.Errorf("%s: G = %.1f over %d cells, p = %.2g", name, g, cells, pValue)
	}
}

func gPair(a, b int) float64 {
	mean := float64(a+b) / 2
	return gTerm(a, mean) + gTerm(b, mean)
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
