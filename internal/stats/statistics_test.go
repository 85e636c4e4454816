package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestMeanInterval(t *testing.T) {
	i := MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	near(t, "mean", i.Estimate, 3, 1e-12)
	near(t, "half width", (i.High-i.Low)/2, 2.776445105*math.Sqrt(0.5), 1e-8)
	if i := MeanInterval([]float64{1}, 0.95); i.Estimate != 1 || !math.IsInf(i.High, 1) {
		t.Errorf("one value: %+v", i)
	}
	if i := MeanInterval(nil, 0.95); !math.IsNaN(i.Estimate) {
		t.Errorf("nothing: %+v", i)
	}
}

// The bounds are by definition where the binomial tail is exactly (1−level)/2; with
// no success of n the upper one is 1 − tail^(1/n), with n of n the lower one
// tail^(1/n), also at levels an audit needs.
func TestClopperPearson(t *testing.T) {
	for _, n := range []int{1, 2, 7, 50, 2000, 1000000} {
		for _, tail := range []float64{0.025, 1e-4, 1e-7, 1e-9} {
			level := 1 - 2*tail
			tail := (1 - level) / 2 // as float64 has it
			for _, k := range []int{0, 1, n / 3, n - 1, n} {
				i := ClopperPearson(k, n, level)
				switch one := -math.Expm1(math.Log(tail) / float64(n)); k {
				case 0:
					near(t, "high of none", i.High, one, 1e-9*one+1e-15)
				case n:
					near(t, "low of all", i.Low, 1-one, 1e-9)
				}
				if k == 0 && i.Low != 0 || k == n && i.High != 1 {
					t.Errorf("%d of %d: %+v", k, n, i)
				}
				if tail < 0.02 || n > 2000 || k == 0 || k == n {
					continue
				}
				near(t, "upper tail", 1-distuv.Binomial{N: float64(n), P: i.Low}.CDF(float64(k-1)), tail, 1e-9)
				near(t, "lower tail", distuv.Binomial{N: float64(n), P: i.High}.CDF(float64(k)), tail, 1e-9)
			}
		}
	}
	for _, bad := range [][2]int{{-1, 3}, {4, 3}, {0, 0}} {
		if i := ClopperPearson(bad[0], bad[1], 0.95); !math.IsNaN(i.Estimate) || !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
			t.Errorf("%v: %v, want nothing", bad, i)
		}
	}
}

// Of numbers that are v but for a share, of which Alike of n is the interval with a
// chance of 2.5%, all n are v with that chance: by hand, with the others at either end.
func TestAlike(t *testing.T) {
	for _, v := range []float64{0, 0.3, 2.0 / 3, 1} {
		for _, n := range []int{1, 8, 500} {
			i := Alike(v, n, 0.95)
			share := math.Pow(0.025, 1/float64(n))
			if i.Estimate != v || !(i.Low <= v && v <= i.High) {
				t.Errorf("%d of %v: %+v", n, v, i)
			}
			near(t, "low", i.Low, share*v, 1e-12)
			near(t, "high", i.High, share*v+1-share, 1e-12)
		}
	}
	if i := Alike(1, 0, 0.95); !math.IsNaN(i.Low) || !math.IsNaN(i.High) {
		t.Errorf("an interval of nothing: %v", i)
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}
