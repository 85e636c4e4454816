package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mldpbench/embeddings"
	"mldpbench/internal/cachetest"
	"mldpbench/results"
)

func TestMain(m *testing.M) {
	testscript.Main(cachetest.Tests{M: m}, map[string]func(){
		"mldp": main,
	})
}

// TestScripts runs the command line as a user does: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"rerun": rerunCells, "code": exitCode},
		Setup: func(env *testscript.Env) error {
			if err := ownCache(env); err != nil {
				return err
			}
			root, err := filepath.Abs(filepath.Join("..", ".."))
			env.Setenv("ROOT", root)
			env.Setenv("EXTERNAL", filepath.Join(root, "examples", "external"))
			return err
		},
	})
}

// ownCache gives a script a separate cache, except for vectors: vectors learned
// or read by one script are there for all.
func ownCache(env *testscript.Env) error {
	cache := filepath.Join(env.WorkDir, ".cache")
	env.Setenv("XDG_CACHE_HOME", cache)
	vectors := embeddings.DefaultCacheDir()
	own := filepath.Join(cache, filepath.Base(filepath.Dir(vectors)))
	if err := errors.Join(os.MkdirAll(own, 0o755), os.MkdirAll(vectors, 0o755)); err != nil {
		return err
	}
	return os.Symlink(vectors, filepath.Join(own, filepath.Base(vectors)))
}

// rerunCells is "rerun RESULTS N": it takes the commands of N records, spread
// over the file, executes each as a shell does, into a separate folder, and
// compares the records.
func rerunCells(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: rerun RESULTS N")
	}
	records, err := results.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	for i := range n {
		want := records[i*(len(records)-1)/max(1, n-1)]
		dir := ts.MkAbs("alone-" + want.Key)
		ts.Check(ts.Exec("sh", "-c", want.Command+" --out "+dir))
		again, err := results.Read(filepath.Join(dir, "results.csv"))
		ts.Check(err)
		found := 0
		for _, r := range again {
			if r.Key != want.Key || r.Quantity != want.Quantity || r.Repetition != want.Repetition ||
				r.Series != want.Series || r.Model != want.Model {
				continue
			}
			found++
			if column := results.FirstDifference(want, r); column != "" {
				ts.Fatalf("%s: %s differs", want.Command, column)
			}
			if r.Command != want.Command {
				ts.Fatalf("%s: its record says %s", want.Command, r.Command)
			}
		}
		if found != 1 {
			ts.Fatalf("%s: %d records", want.Command, found)
		}
	}
}

// exitCode is "code N COMMAND...": the command ends with exit code N.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d: %v", got, want, args[1:])
	}
}
