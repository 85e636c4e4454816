package measure

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// E_M over all words of randomised response is 1 − e^ε/(e^ε+n−1): the search finds
// it, for all levels with what it evaluated for the first ones.
func TestCalibrateToFullError(t *testing.T) {
	t.Parallel()
	const n = 60
	env := mechanisms.Environment{Space: spacetest.Gaussian(t, n, 4, 1, 90), Seed: stream.FromUint64(1)}
	c := Calibrator{Env: env, Settings: mechanisms.Settings{Mechanism: "k-rr"}, Runs: 5, Seed: stream.FromUint64(2),
		Words: numbers[mechanisms.WordID](env.Space.Len())[:20], Tolerance: 0.01}
	for _, level := range []float64{0.1, 0.5, 0.9, 0.3, 0.5} {
		before := len(c.points["em"])
		p, err := c.Find(t.Context(), "em", level)
		if err != nil {
			t.Fatal(err)
		}
		e := math.Exp(p.Epsilon)
		if want := 1 - e/(e+n-1); !p.Exact || math.Abs(p.Value-want) > 1e-9 || want < level || want > level+0.01 ||
			p.Interval.Low != p.Value || p.Interval.High != p.Value {
			t.Errorf("%v: %+v, want %v", level, p, want)
		}
		if more := len(c.points["em"]) - before; before > 0 && more > 3 {
			t.Errorf("%v: %d evaluations after %d", level, more, before)
		}
	}
}

// What is sampled says so, with an interval, and is the same for any number of
// threads; what is out of reach says what is reached.
func TestCalibrateSampledError(t *testing.T) {
	t.Parallel()
	env := mechanisms.Environment{Space: spacetest.Gaussian(t, 70, 4, 1, 91), Seed: stream.FromUint64(1)}
	of := func(name string, threads int) *Calibrator {
		return &Calibrator{Env: env, Settings: mechanisms.Settings{Mechanism: name}, Runs: 20, Seed: stream.FromUint64(2),
			Words: numbers[mechanisms.WordID](env.Space.Len()), Tolerance: 0.05, Threads: threads}
	}
	var found []any
	for _, threads := range []int{1, 3} {
		c := of("cmp", threads)
		p, err := c.Find(t.Context(), "em", 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if p.Exact || p.Value < 0.5 || p.Value > 0.55 || !(p.Interval.Low < p.Value && p.Value < p.Interval.High) {
			t.Errorf("%+v", p)
		}
		found = append(found, c.points["em"])
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Error("the search depends on the number of threads")
	}
	for _, name := range []string{"identity", "uniform"} {
		_, err := of(name, 1).Find(t.Context(), "em", 0.5)
		if out := (*OutOfReach)(nil); !errors.As(err, &out) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
