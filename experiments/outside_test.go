package experiments_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/results"
	"mldpbench/stream"
)

// client is a mechanism from outside: this test's own binary.
func client(kind string) {
	h := external.Hello{Name: kind, Version: "1", Repeatable: kind != "whim"}
	// Words change places within their document.
	shuffle := func(_ context.Context, _ float64, documents [][]string, seeds []stream.Seed) ([][]string, error) {
		for i, d := range documents {
			seed := seeds[i]
			if kind == "whim" || kind == "liar" {
				if _, err := rand.Read(seed[:]); err != nil {
					return nil, err
				}
			}
			seed.Rand().Shuffle(len(d), func(a, b int) { d[a], d[b] = d[b], d[a] })
		}
		return documents, nil
	}
	handle := shuffle
	switch kind {
	case "stillborn":
		fmt.Fprintln(os.Stderr, "no module named torch")
		os.Exit(3)
	case "shorter": // a rewriter
		no := false
		h.Aligned, h.Input = &no, external.Text
		handle = func(_ context.Context, _ float64, documents [][]string, _ []stream.Seed) ([][]string, error) {
			for i, d := range documents {
				documents[i] = d[:(len(d)+1)/2]
			}
			return documents, nil
		}
	case "undefined":
		handle = func(context.Context, float64, [][]string, []stream.Seed) ([][]string, error) {
			return nil, &mechanisms.UndefinedError{Reason: "not at this epsilon"}
		}
	case "dies", "endless", "rubbish", "flood", "short", "disorder":
		handle = func(ctx context.Context, e float64, documents [][]string, seeds []stream.Seed) ([][]string, error) {
			switch kind {
			case "dies":
				fmt.Fprintln(os.Stderr, "KeyError: 'oil'")
				os.Exit(1)
			case "endless":
				time.Sleep(time.Hour)
			case "rubbish":
				fmt.Println("loading model...")
			case "flood":
				fmt.Println(strings.Repeat("x", 10<<20+2))
			case "short":
				return documents[1:], nil
			case "disorder":
				fmt.Println(`{"id":999,"documents":[]}`)
			}
			return documents, nil
		}
	}
	if err := external.Serve(context.Background(), os.Stdin, os.Stdout, h, 0, handle); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// outside is a study of mechanisms from outside beside CMP, on generated text.
func outside(t testing.TB, mechanisms string, edits ...string) *study.Study {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(append([]string{"SELF", self}, edits...)...).Replace(`schema: 1
name: outside
seed: 3
datasets: [{name: generated-reviews, train: 60, validation: 20, test: 40}]
embeddings: [{name: generated, dimensions: [20]}]
epsilons: [5]
models: [{name: svm}]
repetitions: 1
metrics: {deniability: {words: 3, runs: 5}, low: 20, cs: {encoder: sif, documents: 5}}
mechanisms:
  - {name: cmp}
` + mechanisms)
	s, err := study.Parse("outside.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named are the records of a mechanism.
func named(records []results.Record, name string) []results.Record {
	return results.Where(records, func(r results.Record) bool { return r.Mechanism == name })
}

func TestCommandInAStudy(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "model.bin")
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("first")
	s := outside(t, `
  - {name: mine, command: [SELF, client, shuffle, "{k}"], files: [SCRIPT], memory: 64, parameters: {k: [1, 2]}}
  - {name: theirs, command: [SELF, client, shuffle]}
  - {name: whim, command: [SELF, client, whim]}
  - {name: shorter, command: [SELF, client, shorter]}
  - {name: never, command: [SELF, client, undefined]}
`, "SCRIPT", script)
	dir := t.TempDir()
	one := mustRun(t, s, engine.Options{Out: dir, Workers: 1})
	repeatable := func(r results.Record) bool { return !r.Unrepeatable }
	same(t, "three workers", results.Where(one.Records, repeatable),
		results.Where(mustRun(t, s, engine.Options{Workers: 3}).Records, repeatable))
	mine := named(one.Records, "mine")
	if len(mine) != 2 || mine[0].Parameters != "k=1" || mine[0].Variant != string(mechanisms.External) || mine[0].Policy != "" {
		t.Fatalf("mine: %+v", mine)
	}
	for _, r := range one.Records {
		switch r.Mechanism {
		case "mine", "theirs", "whim":
			if !r.PP.Known() || !r.Nw.Known() || !r.CS.Known() || !r.Low.Known() || !r.Accuracy.Known() ||
				r.GuaranteeReason != "the command declares none" || r.Unrepeatable != (r.Mechanism == "whim") {
				t.Errorf("%s: %+v", r.Mechanism, r)
			}
		case "shorter": // tokens do not align, and single words say nothing of it
			if r.PP.Known() || r.TokensTotal != 0 || r.Nw.Known() || r.NwRuns != 0 || !r.CS.Known() || !r.Low.Known() || !r.Accuracy.Known() {
				t.Errorf("%s: %+v", r.Mechanism, r)
			}
		case "never":
			if r.Status != results.StatusUndefined || !strings.Contains(r.Reason, "not at this epsilon") {
				t.Errorf("%s: %q", r.Status, r.Reason)
			}
		}
	}
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran != 0 {
		t.Errorf("%d units run again", again.Ran)
	}
	write("second")
	if again := mustRun(t, s, engine.Options{Out: dir}); again.Ran != 2 {
		t.Errorf("after a change of one script %d units run, want its 2", again.Ran)
	}
}

// What a command does wrong costs its own units and one clear error each.
func TestCommandsThatFail(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"stillborn": "exit status 3) before its hello; the last of its standard error:\n\tno module named torch",
		"dies":      "exit status 1) before the answer to request 1; the last of its standard error:\n\tKeyError: 'oil'",
		"endless":   "nothing within 1s",
		"rubbish":   `not a line of the protocol: invalid character 'l' looking for beginning of value: "loading model..."`,
		"flood":     "a line longer than 10485760 bytes",
		"short":     "2 documents for 3",
		"disorder":  "id = 999: must be 1, that of the request",
		"liar":      "declares to be repeatable, but document ",
	}
	var list strings.Builder
	for kind := range want {
		fmt.Fprintf(&list, "  - {name: %s, command: [SELF, client, %[1]s], timeout: %d}\n", kind, map[bool]int{true: 1, false: 60}[kind == "endless"])
	}
	s := outside(t, list.String()+"  - {name: theirs, command: [SELF, client, shuffle]}\n")
	dir := t.TempDir()
	for _, finished := range []int{0, 3} { // the second run tries them again
		sum, err := experiments.Run(t.Context(), s, "", engine.Options{Out: dir, Workers: 4})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d of %d units failed", len(want), len(want)+3-finished)) {
			t.Fatalf("%v", err)
		}
		if sum.Reused != finished || len(sum.Records) != 3 || len(named(sum.Records, "theirs")) != 1 || len(named(sum.Records, "cmp")) != 1 {
			t.Fatalf("%d finished before, %d records", sum.Reused, len(sum.Records))
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "failed", "*"))
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d failures kept, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for kind, error := range want {
			if strings.Contains(string(text), " "+kind+" ") && strings.Contains(string(text), "client "+kind) {
				found = true
				if !strings.Contains(string(text), error) {
					t.Errorf("%s:\n%s\ndoes not say %q", kind, text, error)
				}
			}
		}
		if !found {
			t.Errorf("%s is of none of them", text)
		}
	}
}
