package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// tinyStudy is small enough to run several times in a test.
const tinyStudy = `schema: 1
name: tiny
seed: 1
datasets:
  - name: generated-reviews
    train: 300
    validation: 80
    test: 200
embeddings:
  - name: generated
    dimensions: [50]
mechanisms:
  - name: cmp
  - name: tem
epsilons: [5, 10]
models:
  - name: svm
settings: [local]
policy: random
repetitions: 3
baseline_repetitions: 3
metrics:
  deniability: {words: 10, runs: 50}
  low: 50
`

// The gate on a real run: the same seed gives no change, another seed is not a
// regression, five points less accuracy are one. Seeds are fixed; the gate's
// own false-alarm level is 1e-3 per run.
func TestCheckOnARun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a small study twice")
	}
	dir := t.TempDir()
	study := filepath.Join(dir, "tiny.yaml")
	writeFile(t, study, tinyStudy)
	file := func(name string) string { return filepath.Join(dir, name, "results.csv") }
	for name, seed := range map[string]string{"base": "1", "reseeded": "2"} {
		if code, out := mldp(t, "run", study, "--seed", seed, "--out", filepath.Join(dir, name)); code != exitOK {
			t.Fatalf("mldp run: exit %d\n%s", code, out)
		}
	}
	if code, out := mldp(t, "check", "--baseline", file("base"), file("base")); code != exitOK {
		t.Errorf("the same results: exit %d\n%s", code, out)
	}
	if code, out := mldp(t, "check", "--baseline", file("base"), file("reseeded")); code != exitOK {
		t.Errorf("reseeded: exit %d\n%s", code, out)
	}
	rows, err := results.Read(file("base"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if r := &rows[i]; r.Quantity == "accuracy" {
			r.Part -= r.Whole / 20
			r.Value, r.Items = results.Share(r.Part, r.Whole).Value, ""
		}
	}
	if err := results.Write(file("dropped"), rows); err != nil {
		t.Fatal(err)
	}
	if code, out := mldp(t, "check", "--baseline", file("base"), file("dropped")); code != exitFailure ||
		!strings.Contains(out, "accuracy") {
		t.Errorf("five points less: exit %d\n%s", code, out)
	}
}

func TestCheckExitCodes(t *testing.T) {
	dir := t.TempDir()
	rows := fewRows(t)
	path := func(name string) string { return filepath.Join(dir, name) }
	renamed := slices.Clone(rows)
	for i := range renamed {
		renamed[i].Study = "another"
	}
	old := path("old.csv")
	for name, r := range map[string][]results.Row{"old.csv": rows, "lost.csv": rows[:len(rows)/2],
		"renamed.csv": renamed, "nothing.csv": nil} {
		if err := results.Write(path(name), r); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, path("broken.csv"), "a,b\n1,2\n")
	for _, c := range []struct {
		baseline, results string
		want              int
	}{
		{old, old, exitOK},
		{old, path("lost.csv"), exitNothing},
		{old, path("broken.csv"), exitUsage},
		{path("broken.csv"), old, exitUsage},
		{old, path("renamed.csv"), exitNothing},
		{old, path("nothing.csv"), exitNothing},
	} {
		if code, out := mldp(t, "check", "--baseline", c.baseline, c.results); code != c.want {
			t.Errorf("%s against %s: exit %d, want %d\n%s", filepath.Base(c.results), filepath.Base(c.baseline), code,
				c.want, out)
		}
	}
	if code, out := mldp(t, "check", old); code != exitUsage {
		t.Errorf("without a baseline: exit %d, want %d\n%s", code, exitUsage, out)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
