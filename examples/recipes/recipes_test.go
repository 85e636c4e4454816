// Package recipes_test runs a study that uses every template.
package recipes_test

import (
	"os"
	"slices"
	"testing"

	_ "mldpbench/examples/recipes/attacker"
	_ "mldpbench/examples/recipes/dataset"
	_ "mldpbench/examples/recipes/mechanism"
	_ "mldpbench/examples/recipes/metric"
	_ "mldpbench/examples/recipes/model"
	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/cachetest"
	"mldpbench/results"
)

func TestMain(m *testing.M) { os.Exit(cachetest.Tests{M: m}.Run()) }

func TestRecipes(t *testing.T) {
	s, err := experiments.Builtin.Open("recipes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	run, err := experiments.Run(t.Context(), s, "", engine.Options{Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, quantity := range []string{"accuracy", "distinct", "unchanged-words"} {
		if !slices.ContainsFunc(run.Rows, func(r results.Row) bool {
			return r.Mechanism == "coin" && r.Dataset == "opinions" && r.Quantity == quantity && r.Value.Known()
		}) {
			t.Errorf("no row of coin has %s", quantity)
		}
	}
}
