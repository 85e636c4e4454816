package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Extra hours of sleep under two drugs (Cushny & Peebles 1905), the data of
// Student 1908; the results are those of every statistics package.
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

// sampled is the sample of some values.
func sampled(x []float64) []Sample {
	mean, variance := stat.MeanVariance(x, nil)
	return []Sample{{mean, variance / float64(len(x)), float64(len(x) - 1)}}
}

// Of one condition the test is Welch's.
func TestBlockedOnStudentsData(t *testing.T) {
	got, err := Blocked(sampled(sleep1), sampled(sleep2))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "t", got.T, -1.8608, 5e-5)
	near(t, "df", got.DF, 17.776, 5e-4)
	near(t, "p", got.P, 0.07939, 5e-6)
	near(t, "low", got.Low, -3.3654832, 5e-7)
	near(t, "high", got.High, 0.2054832, 5e-7)
}

func TestBlockedWithoutSpread(t *testing.T) {
	same, _ := Blocked(sampled([]float64{2, 2}), sampled([]float64{2, 2}))
	if same.P != 1 || same.Difference != 0 {
		t.Errorf("equal constants: %+v", same)
	}
	other, _ := Blocked(sampled([]float64{2, 2}), sampled([]float64{1, 1}))
	if other.P != 0 || !math.IsInf(other.T, 1) {
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

// The mean of two conditions has half their standard errors' root sum of squares.
func TestBlocked(t *testing.T) {
	a, b := sampled(sleep1)[0], sampled(sleep2)[0]
	once, err := Blocked([]Sample{a}, []Sample{b})
	if err != nil {
		t.Fatal(err)
	}
	// The same difference twice: half the variance, twice the degrees of freedom.
	twice, err := Blocked([]Sample{a, a}, []Sample{b, b})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "t of two", twice.T, once.T*math.Sqrt2, 1e-12)
	near(t, "df of two", twice.DF, 2*once.DF, 1e-9)
	near(t, "difference of two", twice.Difference, once.Difference, 1e-12)

	// Infinite degrees of freedom: a normal test.
	one, other := Sample{80, 0.8, math.Inf(1)}, Sample{77.5, 0.871875, math.Inf(1)}
	z, err := Blocked([]Sample{one}, []Sample{other})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "z", z.T, 2.5/math.Sqrt(.8+.871875), 1e-12)
	near(t, "p", z.P, math.Erfc(z.T/math.Sqrt2), 1e-12)
	if _, err := Blocked(nil, nil); err == nil {
		t.Error("no condition: no error")
	}
	if _, err := Blocked([]Sample{{Mean: 1, Variance: math.NaN()}}, []Sample{one}); err == nil {
		t.Error("no variance: no error")
	}
}
