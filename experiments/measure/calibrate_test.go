package measure

import (
	"errors"
	"math"
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// E_M over all words of randomised response is 1 − e^ε/(e^ε+n−1): the search finds
// it, for all targets with what it evaluated for the first ones.
func TestCalibrateToFullError(t *testing.T) {
	t.Parallel()
	const n = 60
	env := mechanisms.Environment{Space: spacetest.Gaussian(t, n, 4, 1, 90), Seed: stream.FromUint64(1)}
	o := CalibrationOptions{Words: numbers[mechanisms.WordID](env.Space.Len())[:20], Runs: 5, Seed: stream.FromUint64(2),
		Tolerance: 0.01}
	for i, value := range []float64{0.1, 0.5, 0.9, 0.5, 0.3} {
		o.Target, o.Below = Target{"em", value}, i == 4
		c, err := Calibrate(t.Context(), env, mechanisms.Settings{Mechanism: "k-rr"}, o)
		if err != nil {
			t.Fatal(err)
		}
		e := math.Exp(c.Epsilon)
		if want := 1 - e/(e+n-1); !c.Exact || math.Abs(c.Achieved-want) > 1e-9 || math.Abs(want-value) > 0.01 ||
			c.Interval.Low != c.Achieved || c.Interval.High != c.Achieved || (c.Achieved < value) != o.Below {
			t.Errorf("%v: %+v, want %v", o.Target, c, want)
		}
		if value == 0.5 && o.Known != nil && len(c.Trace) > len(o.Known)+3 {
			t.Errorf("%d evaluations after %d", len(c.Trace), len(o.Known))
		}
		o.Known = c.Trace
	}
	if again := len(o.Known); again > 11 {
		t.Errorf("%d evaluations", again)
	}
}

// What is sampled says so, with an interval, and is the same for any number of
// threads; what is out of reach says what is reached.
func TestCalibrateSampledError(t *testing.T) {
	t.Parallel()
	env := mechanisms.Environment{Space: spacetest.Gaussian(t, 70, 4, 1, 91), Seed: stream.FromUint64(1)}
	var found []Calibration
	for _, threads := range []int{1, 3} {
		c, err := Calibrate(t.Context(), env, mechanisms.Settings{Mechanism: "cmp"}, CalibrationOptions{
			Target: Target{"em", 0.5}, Words: numbers[mechanisms.WordID](env.Space.Len()), Runs: 20,
			Seed: stream.FromUint64(2), Tolerance: 0.05,
			Threads: threads,
		})
		if err != nil {
			t.Fatal(err)
		}
		if c.Exact || math.Abs(c.Achieved-0.5) > 0.05 || !(c.Interval.Low < c.Achieved && c.Achieved < c.Interval.High) {
			t.Errorf("%+v", c)
		}
		found = append(found, c)
	}
	if !slices.Equal(found[0].Trace, found[1].Trace) {
		t.Error("the search depends on the number of threads")
	}
	for _, name := range []string{"identity", "uniform"} {
		_, err := Calibrate(t.Context(), env, mechanisms.Settings{Mechanism: name}, CalibrationOptions{
			Target: Target{"em", 0.5}, Words: numbers[mechanisms.WordID](env.Space.Len()), Runs: 20, Tolerance: 0.05,
		})
		if out := (*OutOfReach)(nil); !errors.As(err, &out) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseTargets(t *testing.T) {
	got, err := ParseTargets([]string{"em=0.1", "0.5", "nw=0.2"})
	if want := []Target{{"em", 0.1}, {"em", 0.5}, {"nw", 0.2}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range [][]string{{"0.5"}, {"em=x"}, {"x=1"}, {"em=0.1", "y"}} {
		if _, err := ParseTargets(bad); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
