package main

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mldpbench/results"
)

// fewRows are some rows of a reference: CMP and Vickrey on AG News at two ε, and
// the baselines.
func fewRows(t *testing.T) []results.Row {
	t.Helper()
	rows, err := results.Read(filepath.Join("..", "..", "results", "reference", "comparative.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return results.Where(rows, func(r results.Row) bool {
		return r.Dataset == "agnews" && (r.IsBaseline() || r.Epsilon.Float() != 1 &&
			(r.Mechanism == "cmp" || r.Mechanism == "vickrey" && r.Variant == "proved"))
	})
}

// TestResultScripts runs the commands that read results on old.csv; lost.csv
// lacks the cells of one mechanism.
func TestResultScripts(t *testing.T) {
	rows := fewRows(t)
	lost := results.Where(rows, func(r results.Row) bool { return r.Mechanism != "vickrey" })
	scripts(t, testscript.Params{
		Dir: "testdata/results",
		Setup: func(env *testscript.Env) error {
			return errors.Join(results.Write(filepath.Join(env.WorkDir, "old.csv"), rows),
				results.Write(filepath.Join(env.WorkDir, "lost.csv"), lost))
		},
	})
}
