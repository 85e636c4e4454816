package experiments_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/results"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "client" {
		client(os.Args[2])
		os.Exit(0)
	}
	// Studies find this binary on the search path: a program given by its path is hashed for every plan.
	self, err := os.Executable()
	cache, none := os.MkdirTemp("", "mldp-test-cache-")
	err = errors.Join(err, none, os.Setenv("XDG_CACHE_HOME", cache), // away from the user's
		os.Setenv("PATH", filepath.Dir(self)+string(os.PathListSeparator)+os.Getenv("PATH")))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(cache)
	os.Exit(code)
}

// small are studies that run in a moment.
var small = []string{"tiny", "papers"}

func smallFile(name string) string { return filepath.Join("testdata", name+".yaml") }

func open(t testing.TB, name string) *study.Study {
	t.Helper()
	s, err := experiments.Builtin.Open(smallFile(name))
	if err != nil {
		t.Fatal(err)
	}
	if name == "tiny" {
		if s, err = s.Override(study.Overrides{Repetitions: 1, Set: []string{"models=[svm]"}}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// edited is the text of a small study with one piece of it replaced.
func edited(t testing.TB, name, old, new string) string {
	t.Helper()
	data, err := os.ReadFile(smallFile(name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s has no %q", name, old)
	}
	return strings.Replace(string(data), old, new, 1)
}

// changed is a small study with one piece of its text replaced.
func changed(t testing.TB, name, old, new string) *study.Study {
	return parsed(t, edited(t, name, old, new))
}

func mustRun(t testing.TB, s *study.Study, o engine.Options) *engine.Summary {
	t.Helper()
	if o.Out == "" {
		o.Out = t.TempDir()
	}
	sum, err := runUnits(t, s, "", o)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func same(t testing.TB, what string, a, b []results.Row) {
	t.Helper()
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%s: %d and %d records", what, len(a), len(b))
	}
	for i := range a {
		if column := results.FirstDifference(a[i], b[i]); column != "" {
			t.Fatalf("%s: record %d (%s %s %s) differs in %s", what, i, a[i].Dataset, a[i].Mechanism, a[i].Quantity,
				column)
		}
	}
}

// whole is the run of a small study on one worker, once a process.
func whole(t testing.TB, name string) *engine.Summary {
	t.Helper()
	wholes.Lock()
	defer wholes.Unlock()
	if wholes.of[name] == nil {
		wholes.of[name] = mustRun(t, open(t, name), engine.Options{Workers: 1})
	}
	return wholes.of[name]
}

var wholes = struct {
	sync.Mutex
	of map[string]*engine.Summary
}{of: map[string]*engine.Summary{}}

// The numbers of every protocol are those of one run on one worker, for any
// number of workers and shards.
func TestWorkersAndShardsDoNotChangeResults(t *testing.T) {
	for _, name := range small {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := whole(t, name)
			for _, r := range one.Rows {
				if !r.Generated {
					t.Fatalf("%s %s: not labelled generated", r.Dataset, r.Quantity)
				}
			}
			shared := t.TempDir()
			for i := range 3 {
				mustRun(t, open(t, name), engine.Options{Out: shared, Workers: 4, Shard: engine.Shard{Index: i + 1, Count: 3}})
			}
			merged, err := engine.Merge([]string{shared}, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			same(t, "three shards", one.Rows, merged.Rows)
		})
	}
}

// Only additions to a study are run; everything else, and its rows, stay.
func TestAdditionsRunOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		study, what, old, new string
		added                 int
	}{
		{"papers", "epsilon", "epsilons: [5]", "epsilons: [5, 9]", 17},
		{"papers", "setting", "[train-only]", "[train-only, test-only]", 6},
		{"papers", "scene", "scenes:\n", "scenes:\n  - {name: more, metrics: {vector_errors: {}}, " +
			"mechanisms: [{name: privemb, parameters: {beta: 0.5}}]}\n", 1},
		{"tiny", "epsilon", "epsilons: [1, 10]", "epsilons: [1, 5, 10]",
			// mechanisms, data sets; of two repetitions: models and settings, text, low and cs by setting, words, time;
			// and the error over all words once
			7 * 2 * (2*(2*3+3*3+1+1) + 1)},
		{"tiny", "measurement", "  low: 50\n", "  low: 50\n  bleu: {}\n", 7 * 2 * 2 * 2},
	} {
		ids := func(s *study.Study) []string {
			return list.Map(units(t, s), func(u engine.Unit) string { return u.ID })
		}
		before, after := ids(changed(t, c.study, "schema", "schema")), ids(changed(t, c.study, c.old, c.new))
		for _, id := range before {
			if !slices.Contains(after, id) {
				t.Errorf("%s %s: a unit has another ID now: %s", c.study, c.what, id)
			}
		}
		if len(after) != len(before)+c.added {
			t.Errorf("%s %s: %d units, then %d: want %d more", c.study, c.what, len(before), len(after), c.added)
		}
	}
	// IDs and data make keys; this test checks that equal keys mean equal rows.
	dir := t.TempDir()
	first := mustRun(t, open(t, "papers"), engine.Options{Out: dir})
	more := changed(t, "papers", "beta: [0.9]", "beta: [0.8, 0.9]")
	second := mustRun(t, more, engine.Options{Out: dir})
	if second.Ran != 1 || second.Reused != first.Total {
		t.Errorf("%d ran, %d of %d reused", second.Ran, second.Reused, first.Total)
	}
	afresh := mustRun(t, more, engine.Options{})
	same(t, "reused and afresh", afresh.Rows, second.Rows)
}

// Local and train-only are one model tested on two texts; documents drawn anew
// differ between repetitions and share their names with none.
func TestSettingsAndDocuments(t *testing.T) {
	t.Parallel()
	train := map[string]float64{}
	for _, r := range cells(t, whole(t, "tiny")) {
		at := fmt.Sprint(r.Dataset, r.Mechanism, r.Variant, r.Parameters, r.Epsilon, r.Model)
		switch r.Setting {
		case study.Local:
			train[at] = r.Get("validation_accuracy").Float()
		case study.TrainOnly:
			if v := train[at]; v != r.Get("validation_accuracy").Float() && v == v {
				t.Errorf("%s: validation accuracy %v locally, %v train-only", at, v, r.Get("validation_accuracy"))
			}
		}
	}
	redrawn := changed(t, "tiny", "seed: 7", "seed: 7\ndocuments: redrawn")
	redrawn, err := redrawn.Override(study.Overrides{Datasets: []string{"generated-reviews"},
		Mechanisms: []string{"tem"}, Set: []string{"models=[svm]", "settings=[local]"}})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]int{}
	for _, r := range cells(t, mustRun(t, redrawn, engine.Options{})) {
		if !strings.HasPrefix(r.DatasetFingerprint, "redrawn ") {
			t.Fatalf("fingerprint %q", r.DatasetFingerprint)
		}
		if !r.IsBaseline() {
			texts[r.Repetition] = at(r, "pp").Whole
			if !r.Has("baseline_accuracy") {
				t.Error("no baseline")
			}
		}
	}
	if len(texts) != 2 || texts[1] == texts[2] {
		t.Errorf("tokens by repetition: %v", texts)
	}
}

// put writes a file below a folder.
func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
