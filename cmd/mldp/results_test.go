package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestResultScripts runs the commands that read results, on a small file of an
// older schema, which every script has as old.csv; lost.csv lacks its last
// cell.
func TestResultScripts(t *testing.T) {
	fixture, err := os.ReadFile(filepath.Join("..", "..", "results", "testdata", "schema1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/results",
		Setup: func(env *testscript.Env) error {
			header, rest, _ := bytes.Cut(fixture, []byte("\n"))
			first, _, _ := bytes.Cut(rest, []byte("\n"))
			lost := bytes.Join([][]byte{header, first, nil}, []byte("\n"))
			return errors.Join(
				os.WriteFile(filepath.Join(env.WorkDir, "old.csv"), fixture, 0o644),
				os.WriteFile(filepath.Join(env.WorkDir, "lost.csv"), lost, 0o644))
		},
	})
}
