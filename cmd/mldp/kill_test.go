package main

import (
	"bytes"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"mldpbench/results"
)

const killedStudy = `schema: 1
name: killed
seed: 7
datasets: [{name: generated-words}]
embeddings: [{name: generated, dimensions: [50]}]
mechanisms: [{name: cmp}, {name: tem}]
epsilons: [1, 10]
models: [{name: svm}]
repetitions: 2
metrics: {deniability: {words: 5, runs: 10}, inference_error: {samples: 10}}
`

// moment is the time of a measurement.
var moment = regexp.MustCompile(`\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC|"started": "[^"]*"`)

// TestKilled kills a run, and a command that writes a file, at random moments. What is
// written in the end equals that of an undisturbed run, with nothing left over.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("runs studies")
	}
	t.Parallel()
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(17, 4))
	writeFile(t, filepath.Join(dir, "s.yaml"), killedStudy)
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "mldp", args...)
		cmd.Dir = dir
		return cmd
	}
	finish := func(args ...string) time.Duration { // moments of kills are drawn from it; no verdict depends on it
		start := time.Now()
		if out, err := command(args...).CombinedOutput(); err != nil {
			t.Fatalf("mldp %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return time.Since(start)
	}
	kill := func(took time.Duration, args ...string) {
		cmd := command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(rng.Int64N(int64(took))))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	finish("run", "s.yaml", "--out", "whole") // it fills the cache, which takes longer
	took := finish("run", "s.yaml", "--out", "second")
	for range 3 {
		kill(took/2, "run", "s.yaml", "--out", "killed")
	}
	finish("run", "s.yaml", "--out", "killed")
	var rows [2][]results.Row
	for i, run := range []string{"whole", "killed"} {
		var err error
		if rows[i], err = results.Read(filepath.Join(dir, run, "results.csv")); err != nil || len(rows[i]) == 0 {
			t.Fatalf("%s: %d records, %v", run, len(rows[i]), err)
		}
	}
	if len(rows[0]) != len(rows[1]) {
		t.Fatalf("%d records, want %d", len(rows[1]), len(rows[0]))
	}
	for i, want := range rows[0] {
		if column := results.FirstDifference(want, rows[1][i]); column != "" {
			t.Errorf("record %d: %s differs", i, column)
		}
	}
	report := []string{"report", "killed", "-o", "report.html", "--force"}
	took = finish(report...)
	want := filesBelow(t, dir)
	kill(took, report...)
	finish(report...)
	got := filesBelow(t, dir)
	for name, data := range want {
		if !bytes.Equal(moment.ReplaceAll(got[name], nil), moment.ReplaceAll(data, nil)) {
			t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if want[name] == nil && !strings.Contains(filepath.Base(name), ".tmp-") { // removed in a day
			t.Errorf("%s is left over", name)
		}
	}
}

// filesBelow returns the contents of all files below a folder.
func filesBelow(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		all[path], err = os.ReadFile(filepath.Join(dir, path))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
