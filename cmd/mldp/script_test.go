package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"mldpbench/results"
)

// TestScripts runs the command line as a user does: testdata/script/*.txtar.
func TestScripts(t *testing.T) { scripts(t, testscript.Params{Dir: "testdata/script"}) }

// TestResultScripts runs the commands that read results, on some rows of a reference: CMP and Vickrey on AG News at
// two ε, and the baselines, in old.csv; lost.csv lacks Vickrey.
func TestResultScripts(t *testing.T) {
	rows, err := results.Read(filepath.Join(source, "results", "reference", "comparative.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	rows = results.Where(rows, func(r results.Row) bool {
		return r.Dataset == "agnews" && (r.IsBaseline() || r.Epsilon.Float() != 1 &&
			(r.Mechanism == "cmp" || r.Mechanism == "vickrey" && r.Variant == "proved"))
	})
	lost := results.Where(rows, func(r results.Row) bool { return r.Mechanism != "vickrey" })
	scripts(t, testscript.Params{Dir: "testdata/results", Setup: func(env *testscript.Env) error {
		return errors.Join(results.Write(filepath.Join(env.WorkDir, "old.csv"), rows),
			results.Write(filepath.Join(env.WorkDir, "lost.csv"), lost))
	}})
}

// jsonObject is "object COMMAND TABLE...": standard output is the object of
// --json, with these tables, whose rows have one value in each column.
func jsonObject(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: object COMMAND TABLE...")
	}
	var o struct {
		Schema  int                         `json:"schema"`
		Command string                      `json:"command"`
		Tables  map[string][]map[string]any `json:"tables"`
		Files   []string                    `json:"files"`
	}
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.DisallowUnknownFields()
	ts.Check(d.Decode(&o))
	if _, err := d.Token(); err != io.EOF {
		ts.Fatalf("more than one object: %v", err)
	}
	if o.Schema != 1 || o.Command != args[0] || len(o.Tables)+len(o.Files) == 0 &&
		!strings.Contains(args[0], "data") {
		ts.Fatalf("%+v", o)
	}
	for _, name := range args[1:] {
		if _, ok := o.Tables[name]; !ok {
			ts.Fatalf("no table %s", name)
		}
	}
	for name, rows := range o.Tables {
		for _, row := range rows {
			for column, x := range row {
				switch x.(type) {
				case nil, string, float64, bool:
				default:
					ts.Fatalf("%s, %s: %v", name, column, x)
				}
				if _, ok := rows[0][column]; !ok || len(row) != len(rows[0]) {
					ts.Fatalf("%s: rows with other columns: %v, %v", name, rows[0], row)
				}
			}
		}
	}
}

// TestEveryAnswerIsTestedAsJSON fails for a command with --json that no script runs with it,
// or whose tables neither docs/programs.md nor its help names.
func TestEveryAnswerIsTestedAsJSON(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(source, "cmd", "mldp", "testdata", "*", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, %v; want some", len(files), err)
	}
	var scripts strings.Builder
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(script)
	}
	page := pages(t)["programs.md"]
	walkCommands(newRoot(nil), func(c *cobra.Command) {
		if c.Annotations[printing] == "" {
			return
		}
		if !strings.Contains(scripts.String(), "object '"+c.CommandPath()+"'") {
			t.Errorf("no script has object '%s', want one that runs it with --json", c.CommandPath())
		}
		name := strings.TrimPrefix(c.CommandPath(), "mldp ")
		if !strings.Contains(page, "`"+name+"`") && !strings.Contains(c.Long, "--json") {
			t.Errorf("neither docs/programs.md nor the help of %s names its tables with --json, want one to", name)
		}
	})
}
