package main

import (
	"path/filepath"
	"testing"

	"mldpbench/results/analysis"
)

// The sentence, the table, the page, the figures and the JSON of one run, and what each command shows of it later, are
// read from one analysis. Other tests of this package wait: this one is not parallel.
func TestOneAnalysisOfARun(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "run")
	for _, args := range [][]string{
		{"run", "mini", "--mechanism", "cmp,tem", "--dataset", "generated-reviews", "--epsilons", "1,10",
			"--repetitions", "2", "--set",
			"metrics.inference_error.samples=10", "--out", out, "--figures",
			filepath.Join(folder, "figures"), "--json"},
		{"report", out, "--out", filepath.Join(folder, "page.html")},
		{"tables", out, "--align", "em=0.5", "--out", filepath.Join(folder, "tables")},
		{"figures", out, "--format", "svg", "--out", filepath.Join(folder, "drawn")},
		{"compare", "--align", "em=0.5", out},
	} {
		before := analysis.Made()
		code, said := mldp(t, args...)
		if code != 0 && code != exitNothing { // that nothing can be compared there is an answer too
			t.Fatalf("mldp %v: exit code %d, want 0: %s", args, code, said)
		}
		if got := analysis.Made() - before; got != 1 {
			t.Errorf("mldp %v made %d analyses, want 1", args, got)
		}
	}
}
