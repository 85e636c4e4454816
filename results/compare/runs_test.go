package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/internal/realdata"
	"mldpbench/results"
)

func read(t testing.TB, name string) []results.Row {
	t.Helper()
	rows, err := results.Read(filepath.Join("..", "reference", name+".csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// mini are the accuracies and a number of the text of the committed run of the
// study mini, at one dimension.
var mini = sync.OnceValue(func() []results.Row {
	rows, err := results.Read(filepath.Join("..", "reference", "mini.csv.gz"))
	if err != nil {
		panic(err)
	}
	return results.Where(rows, func(r results.Row) bool {
		return r.Dimension == 50 && (r.Quantity == "accuracy" || r.Quantity == "pp" || r.Status != results.StatusOK)
	})
})

func prepare(t testing.TB, rows []results.Row) *results.Prepared {
	t.Helper()
	p, err := results.Prepare(results.Run{Name: "run", Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// repeated gives every cell so many repetitions: those beyond the two that were
// run are the first ones with the noise of another training.
func repeated(rows []results.Row, n int, rng *rand.Rand) []results.Row {
	var out []results.Row
	for _, r := range rows {
		switch {
		case r.Repetition <= n && r.Repetition <= 2:
			out = append(out, r)
		}
		if r.Repetition == 1 && n > 2 {
			for k := 3; k <= n; k++ {
				x := r
				x.Repetition, x.Key = k, r.Key+fmt.Sprint(k)
				out = append(out, shifted(x, 1.2*rng.NormFloat64()))
			}
		}
	}
	return out
}

// shifted changes the accuracy of a row by some points.
func shifted(r results.Row, points float64) results.Row {
	if r.Quantity == "accuracy" {
		n := r.Part + int(math.Round(points*float64(r.Whole)/100))
		r.Measured = results.Share(max(0, min(r.Whole, n)), r.Whole)
	}
	return r
}

// reseeded is the same study with another seed: other documents, which move all
// cells of a data set alike, and other noise. The sizes are those seen between
// runs of mini with five seeds: 1.5 points for documents, 1.7 for a cell.
func reseeded(rows []results.Row, rng *rand.Rand) []results.Row {
	documents := map[string]float64{}
	var out []results.Row
	for _, r := range rows {
		if _, ok := documents[r.Dataset]; !ok {
			documents[r.Dataset] = 1.5 * rng.NormFloat64()
		}
		r.Seed++
		r.DatasetFingerprint = "other " + r.Dataset
		out = append(out, shifted(r, documents[r.Dataset]+1.7*rng.NormFloat64()))
	}
	return out
}

// planted takes so many points from all cells of CMP.
func planted(rows []results.Row, points float64) []results.Row {
	var out []results.Row
	for _, r := range rows {
		if r.Mechanism == "cmp" {
			r = shifted(r, -points)
		}
		out = append(out, r)
	}
	return out
}

var gate = Options{Level: GateLevel, Thresholds: true}

// A loss of 5 or 15 points in all cells of CMP is found at equal seed,
// whatever the repetitions; with another seed and other documents, it is found
// or the test says that it could not have found so little (with probability 80%, so
// one of few seeds misses a loss near it; these do not).
func TestPlantedLosses(t *testing.T) {
	t.Parallel()
	for _, repetitions := range []int{1, 2, 5} {
		for _, points := range []float64{5, 15} {
			for name, o := range map[string]Options{"compare": {}, "gate": gate} {
				what := fmt.Sprintf("%s, %d repetitions, %g points", name, repetitions, points)
				rng := rand.New(rand.NewPCG(uint64(repetitions), uint64(points)+1))
				rows := repeated(mini(), repetitions, rng)
				c := Runs(prepare(t, rows), prepare(t, planted(rows, points)), o)
				if c.Outcome() != Changed || len(c.Changes) == 0 || !strings.Contains(c.Changes[0].Place, "CMP") {
					t.Errorf("%s, equal seed: %s", what, c.Sentence())
				}
				for _, x := range c.Tests {
					if cmp := strings.Contains(x.Scope, "CMP"); x.Quantity == "accuracy" && x.Changed != cmp &&
						strings.Contains(x.Scope, "),") {
						t.Errorf("%s, equal seed: %s changed: %t", what, x.Scope, x.Changed)
					}
				}
				c = Runs(prepare(t, rows), prepare(t, planted(reseeded(rows, rng), points)), o)
				found, detectable := false, math.Inf(1)
				for _, x := range c.Tests {
					if x.Quantity == "accuracy" && strings.HasSuffix(x.Scope, ", CMP") {
						found, detectable = found || x.Changed && x.Change < 0, min(detectable, x.Detectable)
					}
				}
				if !found && (points > 10 || detectable < points) {
					t.Errorf("%s, another seed: not found, detectable %g: %s", what, detectable, c.Sentence())
				}
			}
		}
	}
}

// Two honest runs with another seed pass: of 200 pairs at level 0.05 at most 26
// raise an alarm (more have probability below 1e-6 if the level holds), at the
// level of a gate none of 200 (one has probability 0.18, and these seeds have
// none).
func TestLongHonestRunsPass(t *testing.T) {
	realdata.Long(t)
	t.Parallel()
	const pairs = 200
	alarms, gateAlarms := 0, 0
	for k := range pairs {
		rng := rand.New(rand.NewPCG(99, uint64(k)))
		rows := repeated(mini(), 2+k%2, rng)
		a, b := prepare(t, rows), prepare(t, reseeded(rows, rng))
		c := Runs(a, b, Options{Quantities: []string{"accuracy"}})
		if c.Outcome() == Incomplete || len(c.Tests) < 40 {
			t.Fatal(c.Sentence())
		}
		if c.Outcome() == Changed {
			alarms++
		}
		if Runs(a, b, gate).Outcome() == Changed {
			gateAlarms++
		}
	}
	t.Logf("%d of %d alarms at 0.05, %d at %g", alarms, pairs, gateAlarms, GateLevel)
	if alarms > 26 || gateAlarms > 0 {
		t.Errorf("%d of %d alarms at 0.05, %d at %g", alarms, pairs, gateAlarms, GateLevel)
	}
}

// The same run is the same.
func TestSameRun(t *testing.T) {
	t.Parallel()
	p := prepare(t, mini())
	for _, o := range []Options{{}, gate} {
		if c := Runs(p, p, o); c.Outcome() != Same || c.Exact == 0 || len(c.Changes) > 0 {
			t.Error(c.Sentence())
		}
	}
}

func TestMissingCells(t *testing.T) {
	t.Parallel()
	dropped := map[results.Place]bool{}
	rows := results.Where(mini(), func(r results.Row) bool {
		g := r.Group().Text()
		if r.Mechanism == "cmp" && (dropped[g] || len(dropped) < 9) {
			dropped[g] = true
			return false
		}
		return true
	})
	c := Runs(prepare(t, mini()), prepare(t, rows), gate)
	if c.Outcome() != Incomplete || !strings.Contains(c.Sentence(), "9 cells are in the first run only") {
		t.Errorf("%d: %s", c.Outcome(), c.Sentence())
	}
	if c := Runs(prepare(t, rows), prepare(t, mini()), gate); c.Outcome() != Same || c.New != 9 {
		t.Errorf("more cells: %d new, %s", c.New, c.Sentence())
	}
}

// A run with fewer repetitions of the same seed has not changed, and is not the
// whole of it.
func TestFewerRepetitions(t *testing.T) {
	t.Parallel()
	first := results.Where(mini(), func(r results.Row) bool { return r.Repetition == 1 })
	c := Runs(prepare(t, mini()), prepare(t, first), gate)
	if c.Outcome() != Incomplete || !strings.Contains(c.Sentence(), "fewer repetitions") || len(c.Changes) > 0 {
		t.Errorf("%d: %s", c.Outcome(), c.Sentence())
	}
	if c := Runs(prepare(t, first), prepare(t, mini()), Options{}); c.Outcome() != Same {
		t.Errorf("more repetitions: %d: %s", c.Outcome(), c.Sentence())
	}
}

func TestUnlikeStudies(t *testing.T) {
	t.Parallel()
	c := Runs(prepare(t, mini()), prepare(t, read(t, "extended")), Options{})
	if c.Outcome() != Incomplete || !strings.Contains(c.Sentence(), "studies differ: mini against extended") ||
		!strings.Contains(c.Sentence(), "no cell is in both") {
		t.Errorf("%d: %s", c.Outcome(), c.Sentence())
	}
	other := slices.Clone(mini())
	for i := range other {
		other[i].DatasetFingerprint = "other" // and the same seed
	}
	if c := Runs(prepare(t, mini()), prepare(t, other), gate); c.Outcome() != Incomplete ||
		!strings.Contains(c.Sentence(), "other documents") {
		t.Errorf("unlike data: %d: %s", c.Outcome(), c.Sentence())
	}
}

// one is a run of a single mechanism on 1000 documents with their outcomes: those
// at the places in wrong are wrong.
// The plain text was trained three times, to the same answers.
func one(seed uint64, stored bool, wrong func(int) bool) []results.Row {
	var rows []results.Row
	for k, mechanism := range []string{"cmp", "vickrey", "none", "none", "none"} {
		r := results.NewRow()
		r.Study, r.Key, r.Index, r.Repetition, r.Seed = "s", mechanism, k, 1, seed
		r.Dataset, r.DatasetFingerprint, r.Embedding, r.Dimension = "made-up", "f", "v", 2
		r.Mechanism, r.Epsilon, r.Model, r.Setting, r.TestItems = mechanism, results.Float(1), "svm", "local", 1000
		if r.IsBaseline() {
			r.Epsilon, r.Setting, r.Repetition = results.Missing, "", k-1
		}
		right, n := make([]bool, 1000), 0
		for i := range right {
			if right[i] = mechanism != "cmp" && i%5 > 0 || mechanism == "cmp" && !wrong(i); right[i] {
				n++
			}
		}
		m := results.Share(n, 1000)
		if stored {
			m.Items = results.NewOutcomes(right)
		}
		rows = append(rows, r.Of("accuracy", m))
	}
	return rows
}

// On the same documents, one repetition and two mechanisms suffice where the
// outcome of each document is stored and the plain text says how training varies; without, nothing can be tested, and that
// is no success.
func TestPairsOfDocuments(t *testing.T) {
	t.Parallel()
	before := func(i int) bool { return i%5 == 0 }
	after := func(i int) bool { return i%5 == 0 || i%25 == 1 } // 40 more of 1000
	c := Runs(prepare(t, one(1, true, before)), prepare(t, one(2, true, after)), Options{})
	if c.Outcome() != Changed || !slices.ContainsFunc(c.Tests, func(x Test) bool {
		return x.Changed && strings.Contains(x.Scope, "CMP") && strings.HasPrefix(x.How, "pairs of documents") && x.Detectable < 4
	}) {
		t.Errorf("%s: %+v", c.Sentence(), c.Tests)
	}
	alone := func(seed uint64, wrong func(int) bool) *results.Prepared {
		return prepare(t, results.Where(one(seed, true, wrong), func(r results.Row) bool { return !r.IsBaseline() }))
	}
	c = Runs(alone(1, before), alone(2, after), Options{})
	if c.Outcome() != Incomplete || !strings.Contains(c.Sentence(), Untested) || len(c.Tests) > 0 {
		t.Errorf("%d: %s", c.Outcome(), c.Sentence())
	}
}

// Two honest runs on the same documents, some of which are harder, with another
// seed and two repetitions of three mechanisms at two ε: of 100 pairs at level
// 0.05 at most 18 raise an alarm (more have probability below 1e-6 if the level
// holds).
func TestHonestPairsOfDocumentsPass(t *testing.T) {
	t.Parallel()
	run := func(rng *rand.Rand, seed uint64) []results.Row {
		var rows []results.Row
		for repetition := 1; repetition <= 2; repetition++ {
			for k := range 6 {
				r := one(seed, true, func(int) bool { return false })[0]
				r.Mechanism, r.Epsilon = []string{"cmp", "tem", "vickrey"}[k/2], results.Float(float64(1+k%2))
				r.Index, r.Repetition, r.Key = k, repetition, fmt.Sprint(k)
				trained := 0.05 * rng.NormFloat64() // of this model
				right, n := make([]bool, 1000), 0
				for i := range right {
					if right[i] = rng.Float64()+trained < 0.5+float64(i%10)/20; right[i] {
						n++
					}
				}
				m := results.Share(n, 1000)
				m.Items = results.NewOutcomes(right)
				rows = append(rows, r.Of("accuracy", m))
			}
		}
		return rows
	}
	const pairs = 100
	alarms := 0
	for k := range pairs {
		rng := rand.New(rand.NewPCG(7, uint64(k)))
		if Runs(prepare(t, run(rng, 1)), prepare(t, run(rng, 2)), Options{}).Outcome() == Changed {
			alarms++
		}
	}
	t.Logf("%d of %d alarms", alarms, pairs)
	if alarms > 18 {
		t.Errorf("%d of %d alarms", alarms, pairs)
	}
}

// Three trainings on one text are repetitions on the same documents: where they
// agree, the error of a change is that of one training, not of three samples.
func TestTrainingsAreNoDocuments(t *testing.T) {
	t.Parallel()
	run := func(seed uint64, trainings int, right func(int) bool) *results.Prepared {
		var rows []results.Row
		for k := 1; k <= trainings; k++ {
			for _, r := range one(seed, true, right) {
				if !r.IsBaseline() {
					r.Repetition = k
				} else if k > 1 {
					continue
				}
				rows = append(rows, r)
			}
		}
		return prepare(t, rows)
	}
	errorOf := func(trainings int) float64 {
		c := Runs(run(1, trainings, func(i int) bool { return i%5 == 0 }),
			run(2, trainings, func(i int) bool { return i%5 == 0 || i%25 == 1 }), Options{})
		for _, x := range c.Tests {
			if strings.Contains(x.Scope, "CMP") && strings.HasPrefix(x.How, "pairs of documents") {
				return x.Error
			}
		}
		t.Fatalf("%d trainings: no test of pairs: %s", trainings, c.Sentence())
		return 0
	}
	if a, b := errorOf(1), errorOf(3); math.Abs(b/a-1) > 0.01 {
		t.Errorf("error %g of one training, %g of three that agree", a, b)
	}
}
