package views

import (
	"encoding/xml"
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
	if text := render(t, Tests(c), "md"); !strings.Contains(text, "IMDb, CMP") || strings.Contains(text, "same |") {
		t.Error(text)
	}
	changes := Changes(c, 2)
	if len(changes.Rows) != 2 || changes.Legend != "And 13 more." {
		t.Errorf("%d rows, %q", len(changes.Rows), changes.Legend)
	}
	var b strings.Builder
	if err := WriteJUnit(&b, c); err != nil {
		t.Fatal(err)
	}
	var read junitSuites
	if err := xml.Unmarshal([]byte(b.String()), &read); err != nil || read.Tests != len(c.Tests) || read.Failures < 4 {
		t.Errorf("%d tests, %d failures, %v, want %d tests", read.Tests, read.Failures, err, len(c.Tests))
	}
	b.Reset()
	if err := WriteJUnit(&b, compare.Runs(runs[0], runs[1].Select(func(c results.Cell) bool {
		return c.Mechanism != "vickrey"
	}), compare.Options{})); err != nil || !strings.Contains(b.String(), "5 cells are in the first run only") {
		t.Errorf("missing cells: %v, %s", err, b.String())
	}
}
