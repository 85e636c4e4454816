package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
)

// Extra hours of sleep under two drugs (Cushny & Peebles 1905), the data of
// Student 1908, by Welch's test; the results are those of every statistics
// package.
func TestNewTest(t *testing.T) {
	sleep1 := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	mean1, variance1 := stat.MeanVariance(sleep1, nil)
	mean2, variance2 := stat.MeanVariance(sleep2, nil)
	got := NewTest(mean1-mean2, math.Sqrt((variance1+variance2)/10), 17.77647)
	near(t, "p", got.P, 0.07939, 5e-6)
	near(t, "low", got.Low, -3.3654832, 5e-6)
	near(t, "high", got.High, 0.2054832, 5e-6)
	z := NewTest(2.5, math.Sqrt(.8+.871875), math.Inf(1)) // a normal test
	near(t, "p", z.P, math.Erfc(2.5/math.Sqrt(.8+.871875)/math.Sqrt2), 1e-12)
	if same := NewTest(0, 0, 3); same.P != 1 || same.Low != 0 {
		t.Errorf("equal constants: %+v", same)
	}
	if other := NewTest(1, 0, 3); other.P != 0 || other.Low != 1 {
		t.Errorf("unequal constants: %+v", other)
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, math.NaN(), 0.06, 0.02} {
		if math.IsNaN(want) != math.IsNaN(got[i]) || math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("Holm[%d] = %v, want %v", i, got[i], want)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("adjusted p beyond 1: %v", got)
	}
}

// By hand: of 9 items that differ the second is right on 8, so p is 2·(1+9)/2⁹, and
// the interval is centred on −7/22.
func TestMcNemar(t *testing.T) {
	got := McNemar(1, 8, 20)
	near(t, "p", got.P, 20.0/512, 1e-12)
	half := 1.959963984540054 * math.Sqrt(10-49.0/22) / 22
	near(t, "low", got.Low, -7.0/22-half, 1e-12)
	near(t, "high", got.High, -7.0/22+half, 1e-12)
	if none := McNemar(0, 0, 12); none.P != 1 || !(none.Low < -0.1 && none.High > 0.1) {
		t.Errorf("no item differs: %+v", none)
	}
	// Of two that are equally good, each alone right on 30% of 12 items, at most 5% of
	// pairs are told apart, and 92.6% of intervals hold 0: exact sums.
	false5, missed := 0.0, 0.0
	choose := func(n, k int) float64 {
		return math.Round(math.Exp(combin.LogGeneralizedBinomial(float64(n), float64(k))))
	}
	for a := range 13 {
		for b := range 13 - a {
			p := choose(12, a) * choose(12-a, b) * math.Pow(0.3, float64(a+b)) * math.Pow(0.4, float64(12-a-b))
			test := McNemar(a, b, 12)
			if test.P < 0.05 {
				false5 += p
			}
			if test.Low > 0 || test.High < 0 {
				missed += p
			}
		}
	}
	if false5 > 0.05 || missed > 0.075 || false5 == 0 {
		t.Errorf("told apart %.3f, missed %.3f", false5, missed)
	}
}
