package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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
	rows := []results.Row{version("all", 12), version("some", 7), version("same", 12), version("two", 2)}
	for r := 1; r <= 3; r++ { // plain text, trained three times to the same answers
		plain := version(results.BaselineMechanism, 12)
		plain.Repetition = r
		rows = append(rows, plain)
	}
	p, err := results.Prepare(results.Run{Rows: rows})
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
	if y, ok := a.Pair(0, 1); !ok || y.Level || y.P != 1 || y.Difference != 0 || y.Low > -10 || y.High < 10 {
		t.Errorf("equal answers on 12 documents: %+v", y)
	}
}

// Two repetitions of 8 documents, right on all and, each time, on the same 5: nothing
// varies between repetitions, and 3 that differ favour one in 2 of 2³ draws. One that
// is right on none differs on all 8. Lines that are right on all have an interval.
func TestFewDocumentsInRepetitions(t *testing.T) {
	var rows []results.Row
	for repetition := 1; repetition <= 2; repetition++ {
		for name, right := range map[string]int{"all": 8, "nothing": 0, "some": 5} {
			r := results.NewRow()
			r.Dataset, r.DatasetFingerprint, r.Mechanism, r.Model, r.Repetition = "own", "one", name, "svm", repetition
			r.Key = fmt.Sprint(name, repetition)
			m := results.Share(right, 8)
			m.Items = results.NewOutcomes(append(slices.Repeat([]bool{true}, right), make([]bool, 8-right)...))
			rows = append(rows, r.Of("accuracy", m))
		}
	}
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	a := Versions(p, "accuracy") // lines are in the order of names
	for _, want := range []struct {
		x, y int
		p    float64
		told bool
	}{{0, 2, 2.0 / 8, false}, {0, 1, 2.0 / 256, true}, {1, 2, 2.0 / 32, false}} {
		x, ok := a.Pair(want.x, want.y)
		if !ok || math.Abs(x.P-want.p) > 1e-12 || x.Told != want.told || !(x.Low < x.Difference && x.Difference <= x.High) {
			t.Errorf("%d and %d: %+v, want p = %v", want.x, want.y, x, want.p)
		}
	}
	if l := a.Lines[0]; l.High != 100 || math.Abs(l.Low-100*math.Pow(0.025, 1.0/8)) > 1e-9 {
		t.Errorf("right on all: %v to %v", l.Low, l.High)
	}
}

// Pairs with repetitions use a normal approximation where 12 documents differ. On few documents, shared by
// all repetitions, equal versions are told apart in about 5% of draws (20 to 27 of
// 500 here), and intervals miss the truth as often. A true rate of 6% gives more
// than 62 with probability below 1e-6 (binomial); seeds are fixed.
func TestPairsWithRepetitionsHold(t *testing.T) {
	t.Parallel()
	const draws, most = 500, 62
	for _, documents := range []int{12, 40} {
		for _, repetitions := range []int{2, 3} {
			for _, lost := range []float64{0, 0.3} {
				rng := rand.New(rand.NewPCG(uint64(documents), uint64(repetitions)))
				told, missed := 0, 0
				for range draws {
					x := twoVersions(t, rng, documents, repetitions, lost)
					if x.Told {
						told++
					}
					if truth := 100 * 0.7 * lost; x.Low > truth || x.High < truth {
						missed++
					}
				}
				t.Logf("%d documents, %d repetitions, lost %g: told %d, missed %d", documents, repetitions, lost, told, missed)
				if missed > most || lost == 0 && told > most {
					t.Errorf("%d documents, %d repetitions, lost %g: told %d, missed %d of %d", documents, repetitions, lost, told,
						missed, draws)
				}
			}
		}
	}
}

// twoVersions draws documents, on which the first version is right with
// probability 0.4 to 1, evenly, and the second less often by the share lost.
func twoVersions(t *testing.T, rng *rand.Rand, documents, repetitions int, lost float64) Pair {
	easy := make([]float64, documents)
	for i := range easy {
		easy[i] = 0.4 + 0.6*rng.Float64()
	}
	var rows []results.Row
	for r := 1; r <= repetitions; r++ {
		for v, name := range []string{"one", "two"} {
			x := results.NewRow()
			x.Dataset, x.DatasetFingerprint, x.Mechanism, x.Model, x.Repetition = "own", "one", name, "svm", r
			x.Key = fmt.Sprint(name, r)
			answers, right := make([]bool, documents), 0
			for i := range answers {
				if answers[i] = rng.Float64() < easy[i]*(1-lost*float64(v)); answers[i] {
					right++
				}
			}
			m := results.Share(right, documents)
			m.Items = results.NewOutcomes(answers)
			rows = append(rows, x.Of("accuracy", m))
		}
	}
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return Versions(p, "accuracy").Pairs[0]
}
