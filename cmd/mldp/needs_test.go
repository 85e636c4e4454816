package main

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/datasets/fetch"
	"mldpbench/experiments"
	"mldpbench/experiments/plan"
)

// TestCatalogueKnowsTheStudies compares the catalogue's list of studies with
// the data that the built-in studies name.
func TestCatalogueKnowsTheStudies(t *testing.T) {
	want := map[string][]string{}
	for _, name := range experiments.Builtin.Names() {
		if strings.Contains(name, "@") {
			continue // of tasks, which users run, nothing is recorded
		}
		s, err := experiments.Builtin.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(s)
		if err != nil {
			t.Fatal(err)
		}
		missing, err := p.Missing(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range missing {
			want[name] = append(want[name], e.Name)
		}
	}
	if !slices.Equal(want["comparative"], want["comparative-released"]) || want["mini"] != nil {
		t.Errorf("studies of the grid need %v", want)
	}
	delete(want, "comparative-released")
	for _, e := range fetch.Catalogue() {
		for name, needs := range want {
			if slices.Contains(needs, e.Name) != slices.Contains(e.Studies, name) {
				t.Errorf("%s: studies %v, but %s needs %v", e.Name, e.Studies, name, needs)
			}
		}
		for _, name := range e.Studies {
			if want[name] == nil {
				t.Errorf("%s: no study %q", e.Name, name)
			}
		}
	}
}
