// Package recipes_test runs a study that uses every template.
package recipes_test

import (
	"slices"
	"testing"

	_ "mldpbench/examples/recipes/dataset"
	_ "mldpbench/examples/recipes/documentattacker"
	_ "mldpbench/examples/recipes/documentmechanism"
	_ "mldpbench/examples/recipes/formulamechanism"
	_ "mldpbench/examples/recipes/labelattacker"
	_ "mldpbench/examples/recipes/metric"
	_ "mldpbench/examples/recipes/model"
	_ "mldpbench/examples/recipes/noisemechanism"
	_ "mldpbench/examples/recipes/scoresmechanism"
	_ "mldpbench/examples/recipes/wordattacker"
	"mldpbench/experiments"
	"mldpbench/results"
)

func TestRecipes(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // away from the user's
	s, err := experiments.Builtin.Open("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run, err := experiments.Run(t.Context(), experiments.Running{Parsed: s, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, mechanism := range []string{"coin", "bounded", "laplace"} {
		for _, quantity := range []string{"accuracy", "distinct", "unchanged-words", "linkage-common-p1"} {
			if !slices.ContainsFunc(run.Analysis.Rows, func(r results.Row) bool {
				return r.Mechanism == mechanism && r.Dataset == "opinions" && r.Quantity == quantity && r.Value.Known()
			}) {
				t.Errorf("no row of %s has %s, want one", mechanism, quantity)
			}
		}
	}
}
