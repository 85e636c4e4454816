package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/internal/list"
	"mldpbench/results"
)

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

// answered is a row of a mechanism on n made-up documents, with the outcome of each.
func answered(mechanism string, epsilon float64, repetition, n int, right func(i int) bool) results.Row {
	r := results.NewRow()
	r.Study, r.Key, r.Repetition, r.TestItems = "s", fmt.Sprint(mechanism, epsilon), repetition, n
	r.Dataset, r.DatasetFingerprint, r.Embedding, r.Dimension = "made-up", "one", "v", 2
	r.Mechanism, r.Model = mechanism, "svm"
	if !r.IsBaseline() {
		r.Epsilon, r.Setting = results.Float(epsilon), "local"
	}
	answers := make([]bool, n)
	for i := range answers {
		answers[i] = right(i)
	}
	m := results.Share(list.Count(answers, func(x bool) bool { return x }), n)
	m.Items = results.NewOutcomes(answers)
	return r.Of("accuracy", m)
}

// repeated gives every cell so many repetitions: those beyond the two that were
// run are the first ones with the noise of another training.
func repeated(rows []results.Row, n int, rng *rand.Rand) []results.Row {
	var out []results.Row
	for _, r := range rows {
		if r.Repetition <= min(n, 2) {
			out = append(out, r)
		}
		for k := 3; k <= n && r.Repetition == 1; k++ {
			x := r
			x.Repetition, x.Key = k, r.Key+fmt.Sprint(k)
			out = append(out, shifted(x, 1.2*rng.NormFloat64()))
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

// planted takes so many points from all cells of CMP, and 60 from those of every
// mechanism.
func planted(rows []results.Row, points float64) []results.Row {
	return list.Map(rows, func(r results.Row) results.Row {
		if r.Mechanism == "cmp" || points == 60 && !r.IsBaseline() {
			return shifted(r, -points)
		}
		return r
	})
}

var gate = Options{Level: GateLevel, Thresholds: true}

// A loss of 5 or 15 points in all cells of CMP is found at equal seed, whatever the
// repetitions; with another seed and other documents, it is found or the test says
// that it could not have found so little (with probability 80%, so one of few seeds
// misses a loss near it; these do not). One of 60 points in all cells, as of texts
// replaced by the same words, is found unless nothing is known of training.
func TestPlantedLosses(t *testing.T) {
	t.Parallel()
	for _, repetitions := range []int{1, 2, 5} {
		for _, points := range []float64{5, 15, 60} {
			rng := rand.New(rand.NewPCG(uint64(repetitions), uint64(points)+1))
			rows := repeated(mini(), repetitions, rng)
			before, after := prepare(t, rows), prepare(t, planted(rows, points))
			another := prepare(t, planted(reseeded(rows, rng), points))
			for name, o := range map[string]Options{"compare": {}, "gate": gate} {
				what := fmt.Sprintf("%s, %d repetitions, %g points", name, repetitions, points)
				c := Runs(before, after, o)
				if c.Outcome() != Changed || len(c.Changes) == 0 || !strings.Contains(c.Changes[0].Place, "CMP") {
					t.Errorf("%s, equal seed: %s", what, c.Sentence())
				}
				for _, x := range c.Tests {
					lost := strings.Contains(x.Scope, "CMP") || points == 60 && !strings.Contains(x.Scope, "Baseline")
					if x.Quantity == "accuracy" && x.Changed != lost && strings.Contains(x.Scope, "),") {
						t.Errorf("%s, equal seed: %s changed: %t", what, x.Scope, x.Changed)
					}
				}
				c = Runs(before, another, o)
				found, detectable := false, math.Inf(1)
				for _, x := range c.Tests {
					if x.Quantity == "accuracy" && strings.HasSuffix(x.Scope, ", CMP") {
						found, detectable = found || x.Changed && x.Change < 0, min(detectable, x.Detectable)
					}
				}
				if points == 60 || repetitions == 1 { // nothing is known of training
					found = c.Outcome() == Changed || c.Outcome() == Incomplete && repetitions == 1
				}
				if !found && (points > 10 || detectable < points) {
					t.Errorf("%s, another seed: not found, detectable %g: %s", what, detectable, c.Sentence())
				}
			}
		}
	}
}

// The same run is the same; what lacks in the second run makes it incomplete, and
// what lacks in the first is new.
func TestRunsOfOneSeed(t *testing.T) {
	t.Parallel()
	whole, dropped := prepare(t, mini()), map[results.Place]bool{}
	few := prepare(t, results.Where(mini(), func(r results.Row) bool {
		g := r.Group().Text()
		drop := r.Mechanism == "cmp" && (dropped[g] || len(dropped) < 9)
		if drop {
			dropped[g] = true
		}
		return !drop
	}))
	once := prepare(t, results.Where(mini(), func(r results.Row) bool { return r.Repetition == 1 }))
	change := func(f func(*results.Row)) *results.Prepared {
		rows := slices.Clone(mini())
		for i := range rows {
			f(&rows[i])
		}
		return prepare(t, rows)
	}
	other := change(func(r *results.Row) { r.Study, r.Dataset = "extended", "other"+r.Dataset })
	unlike := change(func(r *results.Row) { r.DatasetFingerprint = "other" }) // and the same seed
	for _, c := range []struct {
		before, after *results.Prepared
		outcome       Outcome
		added         int // -1 for any
		say           string
	}{
		{whole, whole, same, 0, "Nothing changed"},
		{whole, few, Incomplete, 0, "9 cells are in the first run only"},
		{few, whole, same, 9, "Nothing changed"},
		{whole, once, Incomplete, 0, "fewer repetitions"},
		{whole, other, Incomplete, -1, "no cell is in both"},
		{whole, unlike, Incomplete, 0, "other documents"},
	} {
		for _, o := range []Options{{}, gate} {
			got := Runs(c.before, c.after, o)
			if got.Outcome() != c.outcome || c.added >= 0 && got.New != c.added || len(got.Changes) > 0 ||
				!strings.Contains(got.Sentence(), c.say) || c.before == c.after && got.Exact == 0 {
				t.Errorf("want %q: %d new, %d exact, %s", c.say, got.New, got.Exact, got.Sentence())
			}
		}
	}
}

// On the same documents, two mechanisms suffice where the outcome of each document is
// stored: three trainings that agree are repetitions on the same documents. Of one
// training nothing can be tested, and that is no success.
func TestPairsOfDocuments(t *testing.T) {
	t.Parallel()
	fifth := func(i int) bool { return i%5 > 0 }
	run := func(seed uint64, trainings int, right func(int) bool) *results.Prepared {
		var rows []results.Row
		for k := 1; k <= trainings; k++ {
			rows = append(rows, answered("cmp", 1, k, 1000, right), answered("vickrey", 1, k, 1000, fifth))
		}
		for i := range rows {
			rows[i].Seed = seed
		}
		return prepare(t, rows)
	}
	worse := func(i int) bool { return i%5 > 0 && i%25 != 1 } // 40 fewer of 1000
	c := Runs(run(1, 3, fifth), run(2, 3, worse), Options{})
	if c.Outcome() != Changed || !slices.ContainsFunc(c.Tests, func(x Test) bool {
		return x.Changed && strings.Contains(x.Scope, "CMP") && strings.HasPrefix(x.How, "pairs of documents") && x.Detectable < 4
	}) {
		t.Errorf("%s: %+v", c.Sentence(), c.Tests)
	}
	c = Runs(run(1, 1, fifth), run(2, 1, worse), Options{})
	if c.Outcome() != Incomplete || !strings.Contains(c.Sentence(), Untested) || len(c.Tests) > 0 {
		t.Errorf("%s: %s", c.Outcome(), c.Sentence())
	}
}

// Two honest runs on the same documents, some of which are harder, with another
// seed and two repetitions of three mechanisms at two ε: of 100 pairs at level
// 0.05 at most 18 raise an alarm (more have probability below 1e-6 if the level
// holds).
func TestHonestPairsOfDocumentsPass(t *testing.T) {
	t.Parallel()
	run := func(rng *rand.Rand, seed uint64) *results.Prepared {
		var rows []results.Row
		for k := range 12 {
			trained := 0.05 * rng.NormFloat64() // of this model
			rows = append(rows, answered([]string{"cmp", "tem", "vickrey"}[k/4], float64(1+k%2), 1+k/2%2, 1000,
				func(i int) bool { return rng.Float64()+trained < 0.5+float64(i%10)/20 }))
			rows[k].Seed = seed
		}
		return prepare(t, rows)
	}
	const pairs = 100
	alarms := 0
	for k := range pairs {
		rng := rand.New(rand.NewPCG(7, uint64(k)))
		if Runs(run(rng, 1), run(rng, 2), Options{}).Outcome() == Changed {
			alarms++
		}
	}
	t.Logf("%d of %d alarms", alarms, pairs)
	if alarms > 18 {
		t.Errorf("%d of %d alarms", alarms, pairs)
	}
}
