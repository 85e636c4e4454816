package analysis

import (
	"math"
	"testing"

	"mldpbench/results"
	"mldpbench/results/quantity"
)

// Where all of n documents that differ favour one version, which chance does in 2 of
// 2ⁿ draws, that is the p-value, once (a normal approximation says 0.005 of 5) and in
// repetitions that do not vary. Lines that are right on all have an interval.
func TestFewDocumentsAreTestedExactly(t *testing.T) {
	for _, c := range []struct {
		repetitions, documents, first, second int
		p                                     float64
		told                                  bool
	}{
		{1, 12, 12, 7, 2.0 / 32, false}, {1, 12, 12, 2, 2.0 / 1024, true}, {1, 12, 12, 12, 1, false},
		{2, 8, 8, 5, 2.0 / 8, false}, {2, 8, 8, 0, 2.0 / 256, true}, {2, 8, 5, 0, 2.0 / 32, false},
	} {
		var rows []results.Row
		add := func(name string, repetitions, right int) {
			for r := range repetitions {
				rows = append(rows, answered(name, 0, r+1, c.documents, func(i int) bool { return i < right }))
			}
		}
		add("a", c.repetitions, c.first)
		add("b", c.repetitions, c.second)
		if c.repetitions == 1 { // plain text, trained three times to the same answers
			add(results.BaselineMechanism, 3, c.documents)
		}
		a := Of(prepare(t, rows), quantity.Levels{}).Versions("accuracy")
		x, ok := a.Pair(0, 1)
		difference := 100 * float64(c.first-c.second) / float64(c.documents)
		if !ok || math.Abs(x.P-c.p) > 1e-12 || x.Different != c.told || x.Equivalent ||
			math.Abs(x.Difference-difference) > 1e-9 ||
			!(x.Low < x.Difference && x.Difference <= x.High) || c.p == 1 && (x.Low > -10 || x.High < 10) {
			t.Errorf("%+v: %+v", c, x)
		}
		if l := a.Lines[0]; c.first == 8 && (l.High != 100 || math.Abs(l.Low-100*math.Pow(0.025, 1.0/8)) > 1e-9) {
			t.Errorf("right on all: %v to %v", l.Low, l.High)
		}
	}
}
