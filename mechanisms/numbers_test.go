package mechanisms

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

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

func TestAliasTable(t *testing.T) {
	var b aliasBuilder
	var table aliasTable
	rng := stream.FromUint64(3).Rand()
	for _, n := range []int{1, 2, 3, 10, 1000, 30000} {
		for _, steepness := range []float64{0, 1, 10, 100} {
			p := make([]float64, n)
			for i := range p {
				p[i] = -steepness * rng.ExpFloat64()
			}
			stats.Softmax(p, p)
			b.build(&table, p)
			for i, got := range table.held() {
				if math.Abs(got-p[i]) > 1e-14 {
					t.Fatalf("n = %d, steepness %v: column %d holds %v, want %v", n, steepness, i, got, p[i])
				}
			}
		}
	}
	p := []float64{0, math.Log(.5), math.Inf(-1), math.Log(.5), -1e4}
	if probabilities(p); p[4] != leastProbability || p[2] != 0 {
		t.Errorf("of a possible and of an impossible output: %v", p) // the first would be lost by underflow
	}
	b.build(&table, p)
	counts := make([]int, len(p))
	for range 50_000 {
		counts[table.draw(rng.Uint64())]++
	}
	requireFit(t, "alias", counts, p)
	if table.draw(0) == 2 || table.draw(math.MaxUint64) == 2 {
		t.Error("an output of probability 0 is drawn")
	}
}

func TestExponential(t *testing.T) {
	t.Parallel()
	rng := stream.FromUint64(31).Rand()
	for i := range 100_000 {
		x := -708 * rng.Float64()
		if i%2 == 0 {
			x = -rng.ExpFloat64()
		}
		want := math.Exp(x) // below 1 ulp
		if err := math.Abs(expNegative(x)-want) / want * 0x1p52; err > 2 {
			t.Fatalf("e^%v = %v, want %v: %.1f ulp", x, expNegative(x), want, err)
		}
	}
	for x, want := range map[float64]float64{0: 1, -1: 1 / math.E, -800: 0, math.Inf(-1): 0} {
		if got := expNegative(x); math.Abs(got-want) > 1e-16 {
			t.Errorf("e^%v = %v, want %v", x, got, want)
		}
	}
	// The largest of many draws is as large as the law predicts: beyond 10 with
	// probability 1 − 10⁻²⁰, beyond 34 with 2·10⁻⁹.
	x, most, pcg := make([]float64, 1<<20), 0.0, rand.NewPCG(34, 35)
	for i := range x {
		x[i] = exponential(pcg)
		most = max(most, x[i])
		x[i] = -math.Expm1(-x[i])
	}
	if most < 10 || most > 34 {
		t.Errorf("the largest of 2²⁰ is %v", most)
	}
	requireUniform(t, "exponential", x[:200_000])
}
