package mechanisms

import (
	"math"
	"mldpbench/internal/kernel"
	"sort"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// kolmogorov is the distance of a sample from the uniform law on [0, 1].
func kolmogorov(x []float64) float64 {
	sort.Float64s(x)
	var d float64
	n := float64(len(x))
	for i, v := range x {
		d = max(d, math.Abs(v-float64(i)/n), math.Abs(v-float64(i+1)/n))
	}
	return d
}

// held is the distribution an alias table draws from.
func (t *aliasTable) held() []float64 {
	n := float64(len(t.thresholds))
	p := make([]float64, len(t.thresholds))
	for i, th := range t.thresholds {
		keep := math.Ldexp(float64(th), -64)
		p[i] += keep / n
		p[t.aliases[i]] += (1 - keep) / n
	}
	return p
}

func TestAliasTableHoldsItsDistribution(t *testing.T) {
	rng := stream.FromUint64(3).Rand()
	for _, n := range []int{1, 2, 3, 10, 1000, 30000} {
		for _, steepness := range []float64{0, 1, 10, 100} {
			p := make([]float64, n)
			for i := range p {
				p[i] = -steepness * rng.ExpFloat64()
			}
			softmax(p)
			var b aliasBuilder
			var table aliasTable
			b.build(&table, p)
			for i, got := range table.held() {
				if math.Abs(got-p[i]) > 1e-14 {
					t.Fatalf("n = %d, steepness %v: column %d holds %v, want %v", n, steepness, i, got, p[i])
				}
			}
		}
	}
}

func TestAliasTableDraws(t *testing.T) {
	p := []float64{0.5, 0, 0.25, 0.125, 0.125}
	var b aliasBuilder
	var table aliasTable
	b.build(&table, p)
	rng := stream.FromUint64(4).Rand()
	counts := make([]int, len(p))
	for range 100000 {
		counts[table.draw(rng.Uint64())]++
	}
	requireFit(t, "alias", counts, p)
	if w := table.draw(0); p[w] == 0 {
		t.Errorf("draw(0) = %d, of probability 0", w)
	}
	if w := table.draw(math.MaxUint64); p[w] == 0 {
		t.Errorf("draw(max) = %d, of probability 0", w)
	}
}

func BenchmarkAliasDraw(b *testing.B) {
	s := spacetest.Gaussian(b, 27000, 100, 1, 1)
	m := mustNew(b, Environment{Space: s}, Settings{Mechanism: "santext", Epsilon: 2})
	const distinct = 500
	src, dst := make([]WordID, 10000), make([]WordID, 10000)
	for i := range src {
		src[i] = WordID(i % distinct)
	}
	rng := stream.FromUint64(5).Rand()
	m.Privatize(dst, src, nil, rng)
	b.ResetTimer()
	for b.Loop() {
		m.Privatize(dst, src, nil, rng)
	}
	b.ReportMetric(float64(b.N)*float64(len(src))/b.Elapsed().Seconds(), "words/s")
}

func BenchmarkSelectionRow(b *testing.B) {
	s := spacetest.Gaussian(b, 27000, 100, 1, 1)
	for _, name := range []string{"santext", "tem"} {
		b.Run(name, func(b *testing.B) {
			m := mustNew(b, Environment{Space: s}, Settings{Mechanism: name, Epsilon: 5}).(*selector)
			var builder rowBuilder
			var table aliasTable
			i, stride := 0, 0
			for b.Loop() {
				word, r := WordID(i%s.Len()), i%kernel.PairRows
				if r == 0 { // as privatizeGrouped does
					builder.rows, stride = m.basisRows(builder.rows, word, word+1, word+2, word+3)
				}
				builder.build(m, &table, rowKey{word, 5}, builder.rows[r*stride:(r+1)*stride])
				i++
			}
		})
	}
}
