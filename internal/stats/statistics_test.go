package stats

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestSummarize(t *testing.T) {
	s := Summarize([]float64{1, math.NaN(), 2, 3, 4, 5})
	if s.N != 5 || len(s.Warnings) != 0 {
		t.Fatalf("%+v", s)
	}
	near(t, "mean", s.Mean, 3, 1e-12)
	near(t, "half width", (s.High-s.Low)/2, 2.776445105*math.Sqrt(0.5), 1e-8)
	if s := Summarize([]float64{1, 2}); len(s.Warnings) != 1 {
		t.Errorf("two repetitions must warn: %+v", s)
	}
	if s := Summarize([]float64{1}); len(s.Warnings) != 1 || !math.IsInf(s.High, 1) {
		t.Errorf("one repetition: %+v", s)
	}
	if s := Summarize(nil); s.N != 0 || !math.IsNaN(s.Mean) {
		t.Errorf("nothing: %+v", s)
	}
}

// The bounds are by definition where the binomial tail is exactly (1−level)/2.
func TestClopperPearsonIsItsDefinition(t *testing.T) {
	for _, n := range []int{1, 2, 7, 50, 2000} {
		for _, k := range []int{0, 1, n / 3, n - 1, n} {
			i, err := ClopperPearson(k, n, 0.95)
			if err != nil {
				t.Fatal(err)
			}
			if k > 0 {
				upperTail := 1 - distuv.Binomial{N: float64(n), P: i.Low}.CDF(float64(k-1))
				near(t, "upper tail", upperTail, 0.025, 1e-9)
			} else if i.Low != 0 {
				t.Errorf("0 of %d: low = %v", n, i.Low)
			}
			if k < n {
				lowerTail := distuv.Binomial{N: float64(n), P: i.High}.CDF(float64(k))
				near(t, "lower tail", lowerTail, 0.025, 1e-9)
			} else if i.High != 1 {
				t.Errorf("%d of %d: high = %v", n, n, i.High)
			}
		}
	}
	for _, bad := range [][2]int{{-1, 3}, {4, 3}, {0, 0}} {
		if _, err := ClopperPearson(bad[0], bad[1], 0.95); err == nil {
			t.Errorf("%v must be an error", bad)
		}
	}
	if _, err := ClopperPearson(1, 2, 1); err == nil {
		t.Error("level 1 must be an error")
	}
}

// Of numbers that are v but for a share, of which Alike of n is the interval with a
// chance of 2.5%, all n are v with that chance: by hand, with the others at either end.
func TestAlike(t *testing.T) {
	for _, v := range []float64{0, 0.3, 2.0 / 3, 1} {
		for _, n := range []int{1, 8, 500} {
			i, err := Alike(v, n, 0.95)
			share := math.Pow(0.025, 1/float64(n))
			if err != nil || i.Estimate != v || !(i.Low <= v && v <= i.High) {
				t.Errorf("%d of %v: %+v, %v", n, v, i, err)
			}
			near(t, "low", i.Low, share*v, 1e-12)
			near(t, "high", i.High, share*v+1-share, 1e-12)
		}
	}
	if _, err := Alike(1, 0, 0.95); err == nil {
		t.Error("an interval of nothing")
	}
}

// With no success of n the upper bound is 1 − tail^(1/n), with n of n the lower
// one tail^(1/n): also at levels an audit needs.
func TestClopperPearsonFarOut(t *testing.T) {
	for _, n := range []int{1, 10, 40000, 1000000} {
		for _, tail := range []float64{0.025, 1e-4, 1e-7, 1e-9} {
			level := 1 - 2*tail
			tail := (1 - level) / 2 // as float64 has it
			want := -math.Expm1(math.Log(tail) / float64(n))
			none, err := ClopperPearson(0, n, level)
			if err != nil || none.Low != 0 || math.Abs(none.High-want) > 1e-9*want+1e-15 {
				t.Errorf("0 of %d, tail %v: %+v, %v; want high %v", n, tail, none, err, want)
			}
			all, err := ClopperPearson(n, n, level)
			if err != nil || all.High != 1 || math.Abs(all.Low-(1-want)) > 1e-9 {
				t.Errorf("%d of %d, tail %v: %+v, %v; want low %v", n, n, tail, all, err, 1-want)
			}
		}
	}
}
