package views

import (
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
	"mldpbench/results/compare"
)

// A regression is in every form of a comparison: tests, changes and the file for continuous integration.
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
	runs := []*results.Prepared{prepare("first", 0), prepare("same", 0), prepare("worse", 10)}
	gate := compare.Options{Level: compare.GateLevel, Thresholds: true}
	steps := []*compare.Comparison{compare.Runs(runs[0], runs[1], gate), compare.Runs(runs[1], runs[2], gate)}
	c := steps[1]
	few, every := Compared(c, 2), Compared(c, -1)
	if text := render(t, find(t, few, "tests"), "md"); !strings.Contains(text, "IMDb, CMP") || strings.Contains(text, "same |") {
		t.Error(text)
	}
	changes := find(t, few, "changes")
	if len(changes.Rows) != 2 || changes.Legend != "15 in all." {
		t.Errorf("%d rows, %q", len(changes.Rows), changes.Legend)
	}
	if n, m := len(find(t, every, "tests").Rows), len(find(t, every, "changes").Rows); n != len(c.Tests) || m != 15 {
		t.Errorf("%d tests, %d changes", n, m)
	}
	if x := cellAt(t, find(t, few, "tests"), "change", "accuracy", "IMDb, CMP"); x.Value != -10.0 || x.Text != "-10.00 ± 0.00" {
		t.Errorf("%+v", x)
	}
	if same := find(t, Compared(steps[0], 2), "tests"); len(same.Rows) != len(results.Distinct(steps[0].Tests,
		func(x compare.Test) string { return x.Quantity })) {
		t.Errorf("%d tests of equal runs", len(same.Rows))
	}
}
