package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestResultScripts runs the commands that read results, on a small file of
// an older schema that every script finds as old.csv.
func TestResultScripts(t *testing.T) {
	fixture, err := os.ReadFile(filepath.Join("..", "..", "results", "testdata", "schema1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/results",
		Setup: func(env *testscript.Env) error {
			return os.WriteFile(filepath.Join(env.WorkDir, "old.csv"), fixture, 0o644)
		},
	})
}
