package compare

import (
	"math"
	"testing"

	"mldpbench/results"
)

// Two versions of 12 documents, right on all and on 7: of 5 that differ all favour
// one, which chance does in 2 of 2⁵ draws. A normal approximation says 0.005.
func TestFewDocumentsAreTestedExactly(t *testing.T) {
	version := func(name string, right int) results.Row {
		r := results.NewRow()
		r.Dataset, r.DatasetFingerprint, r.Mechanism, r.Key, r.Model, r.Repetition = "own", "one", name, name, "svm", 1
		answers := make([]bool, 12)
		for i := range right {
			answers[i] = true
		}
		m := results.Share(right, 12)
		m.Items = results.NewOutcomes(answers)
		return r.Of("accuracy", m)
	}
	p, err := results.Prepare(results.Run{Rows: []results.Row{version("all", 12), version("some", 7), version("same", 12),
		version("two", 2)}})
	if err != nil {
		t.Fatal(err)
	}
	a := Versions(p, "accuracy")
	x, ok := a.Pair(0, 2) // lines are in the order of names
	if !ok || math.Abs(x.P-2.0/32) > 1e-12 || x.Told || math.Abs(x.Difference-500.0/12) > 1e-9 || x.Low > 500.0/14 ||
		x.High < 500.0/12 {
		t.Errorf("%+v", x)
	}
	if z, ok := a.Pair(0, 3); !ok || math.Abs(z.P-2.0/1024) > 1e-12 || !z.Told {
		t.Errorf("right on 12 and on 2: %+v", z)
	}
	if y, ok := a.Pair(0, 1); !ok || y.P != 1 || y.Difference != 0 || y.Low > -10 || y.High < 10 {
		t.Errorf("equal answers on 12 documents: %+v", y)
	}
}
