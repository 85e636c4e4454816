package mechanisms

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/stream"
)

func TestExpNegative(t *testing.T) {
	rng := stream.FromUint64(31).Rand()
	worst := 0.0
	for i := range 200_000 {
		x := -708 * rng.Float64()
		if i%2 == 0 {
			x = -rng.ExpFloat64()
		}
		want := math.Exp(x) // below 1 ulp
		err := math.Abs(expNegative(x)-want) / want * 0x1p52
		if worst = max(worst, err); err > 2 {
			t.Fatalf("e^%v = %v, want %v: %.1f ulp", x, expNegative(x), want, err)
		}
	}
	t.Logf("at most %.2f ulp from math.Exp", worst)
	for x, want := range map[float64]float64{0: 1, -1: 1 / math.E, -800: 0, math.Inf(-1): 0} {
		if got := expNegative(x); math.Abs(got-want) > 1e-16 {
			t.Errorf("e^%v = %v, want %v", x, got, want)
		}
	}
}

func TestExponentialLaw(t *testing.T) {
	const n = 200_000
	rng := rand.NewPCG(32, 33)
	x := make([]float64, n)
	for i := range x {
		x[i] = -math.Expm1(-exponential(rng))
	}
	if d, limit := kolmogorov(x), math.Sqrt(math.Log(2/falseAlarm)/(2*n)); d > limit {
		t.Errorf("Kolmogorov distance %.5f > %.5f", d, limit)
	}
}

// The largest of many draws is as large as the law predicts: beyond 10 with
// probability 1 − 10⁻²⁰, beyond 34 with 2·10⁻⁹.
func TestExponentialReachesFar(t *testing.T) {
	rng := rand.NewPCG(34, 35)
	most := 0.0
	for range 1 << 20 {
		most = max(most, exponential(rng))
	}
	if most < 10 || most > 34 {
		t.Errorf("the largest of 2²⁰ is %v", most)
	}
}
