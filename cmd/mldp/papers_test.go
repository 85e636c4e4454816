package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"

	"mldpbench/internal/realdata"
	"mldpbench/results"
	"mldpbench/results/published"
)

// TestCommandsOfPapers runs every command that mldp reproduce prints: without data it ends
// where it says which it lacks; where the data are, those that run no study end well.
func TestCommandsOfPapers(t *testing.T) {
	for _, paper := range published.Papers() {
		for _, item := range paper.Items {
			line := item.Otherwise
			if len(item.Runs) > 0 {
				line, _ = paper.Makes(item)
			}
			rest, isCommand := strings.CutPrefix(line, "mldp ")
			if !isCommand {
				continue
			}
			args, err := shellwords.Parse(rest)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			code, said := runOver(t, t.TempDir(), args)
			if code == exitOK || !strings.Contains(said, "get it with: mldp data fetch ") {
				t.Errorf("%s without data: exit code %d and %q, want what is lacking", line, code, said)
			}
			if len(item.Runs) > 0 {
				continue
			}
			t.Run(line, func(t *testing.T) {
				code, said := runOver(t, realdata.Dir(t), args)
				if code != exitOK && !strings.Contains(said, "get it with: mldp data fetch ") {
					t.Errorf("exit code %d and %q, want 0", code, said)
				}
			})
		}
	}
}

// TestCommandsOfRecords runs every line of results/records.yaml: without data each says which it lacks, after its
// study, flags and keys were read. A search for an ε has no dry run.
func TestCommandsOfRecords(t *testing.T) {
	empty := t.TempDir()
	for _, record := range results.Records() {
		args := record.Arguments()
		if args == nil {
			continue
		}
		if args[0] == "run" && !slices.Contains(args, "--align") {
			args = append(args, "--dry-run")
		}
		if record.Study == "mini" { // all of its data is generated
			continue
		}
		code, said := runOver(t, empty, args)
		if code == exitOK {
			t.Errorf("%s: mldp %s without data: exit code 0, want another", record.Name, strings.Join(args, " "))
		}
		if !strings.Contains(said, "get it with: mldp data fetch ") {
			t.Errorf("%s: mldp %s without data says %q, want what is lacking", record.Name, strings.Join(args, " "),
				said)
		}
	}
}

// runOver runs a command over a data folder and returns what it says on standard error.
func runOver(t *testing.T, data string, args []string) (code int, said string) {
	t.Helper()
	var stderr bytes.Buffer
	c := call{dir: t.TempDir(), stdout: io.Discard, stderr: &stderr}
	code = c.run(append(args, "--data", data)...)
	return code, stderr.String()
}
