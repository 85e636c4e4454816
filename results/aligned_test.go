package results

import (
	"math"
	"testing"
)

// line is a repetition of a mechanism at three ε.
func line(repetition int, shift float64) []Record {
	var out []Record
	for i, e := range []float64{1, 4, 16} {
		r := cellRecord(i, repetition, 0)
		r.Epsilon, r.EMMap = Float(e), Float([]float64{0.9, 0.5, 0.1}[i])
		r.Accuracy = Float([]float64{60, 70, 90}[i] + shift)
		out = append(out, r)
	}
	return out
}

func TestAlignReadsTheLine(t *testing.T) {
	got := Align(append(line(1, 0), line(2, 2)...), []float64{0.05, 0.1, 0.3, 0.5, 0.7, 0.95})
	if len(got) != 1 {
		t.Fatalf("%d curves, want 1", len(got))
	}
	for i, want := range []struct {
		accuracy, epsilon float64
		n                 int
	}{{math.NaN(), 0, 0}, {91, 16, 2}, {81, 8, 2}, {71, 4, 2}, {66, 2, 2}, {math.NaN(), 0, 0}} {
		a, e := got[0].Accuracy[i], got[0].Epsilon[i]
		if a.N != want.n {
			t.Errorf("level %d: %d repetitions, want %d", i, a.N, want.n)
			continue
		}
		if want.n > 0 {
			near(t, "accuracy", a.Mean, want.accuracy, 1e-9)
			near(t, "epsilon", e.Mean, want.epsilon, 1e-9)
		}
	}
}

// A level that one repetition does not reach has no value, even if the others
// reach it.
func TestAlignNeedsAllRepetitions(t *testing.T) {
	short := line(2, 0)[:2]
	got := Align(append(line(1, 0), short...), []float64{0.3, 0.7})
	if got[0].Accuracy[0].N != 0 || got[0].Accuracy[1].N != 2 {
		t.Errorf("%+v", got[0].Accuracy)
	}
}
