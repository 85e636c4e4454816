package views

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// A regression is in every form of a comparison: tests and changes.
func TestComparisons(t *testing.T) {
	t.Parallel()
	rows := func(points int) []results.Row {
		all := slices.Clone(made().Rows)
		for i, r := range all {
			if r.Mechanism == "cmp" && r.Quantity == "accuracy" {
				all[i].Measured = results.Share(r.Part-4*points, 400)
			}
		}
		return all
	}
	prepare := func(name string, points int) *results.Prepared {
		p, err := results.Prepare(results.Run{Name: name, Rows: rows(points)})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := compare.Runs(prepare("first", 0), prepare("worse", 10), compare.Options{Level: compare.GateLevel, Thresholds: true})
	if text := render(t, Tests(c), "md"); !strings.Contains(text, "IMDb, CMP") || strings.Contains(text, "same |") {
		t.Error(text)
	}
	changes := Changes(c, 2)
	if len(changes.Rows) != 2 || changes.Legend != "And 13 more." {
		t.Errorf("%d rows, %q", len(changes.Rows), changes.Legend)
	}
}
