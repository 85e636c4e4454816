package mechanisms

import (
	"math"
	"sort"
	"testing"

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
