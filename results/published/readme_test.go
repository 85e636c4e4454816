package published

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

// TestReadmeFollowsItsRecords: the numbers of README's five findings.
func TestReadmeFollowsItsRecords(t *testing.T) {
	t.Parallel()
	// 1: E_M at ε = 5.
	errors := map[string][]float64{}
	for _, c := range records.View(t, "comparative").Cells {
		m, ok := c.At("e_m_full_uniform")
		if ok && m.Value.Known() && c.Dataset == "agnews" && c.Epsilon == 5 && c.Dimension == 100 && c.Variant == "proved" {
			errors[c.Mechanism+c.Parameters] = append(errors[c.Mechanism+c.Parameters], 100*float64(m.Value))
		}
	}
	percent := func(name string) float64 {
		if len(errors[name]) == 0 {
			t.Fatalf("no E_M of %s in %v", name, errors)
		}
		return math.Round(errors[name][0])
	}
	if percent("santext") != percent("tembeta=0.001 gamma=theorem3") {
		t.Errorf("E_M of SanText and TEM: %v", errors)
	}

	// 2: the rank fix against each, on every data set.
	for _, a := range compare.Align(records.View(t, "extended"), compare.Question{}, 0.5) {
		at := func(name string) int {
			return slices.IndexFunc(a.Lines, func(l compare.Line) bool { return l.Mechanism == name })
		}
		for name, told := range map[string]bool{"cmp": true, "mahalanobis": true, "santext": true, "tem": true, "syntf": true,
			"k-rr": true, "vickrey": false, "diffractor": false} {
			if x, ok := a.Pair(at("rank-fix"), at(name)); !ok || x.Told != told || told && x.Difference < 0 {
				t.Errorf("%s: %s: %+v", a.Dataset, name, x)
			}
		}
	}
	for _, a := range compare.Align(records.View(t, "classifiers"), compare.Question{}, 0.5) {
		fix := slices.IndexFunc(a.Lines, func(l compare.Line) bool { return l.Mechanism == "rank-fix" })
		cmp := slices.IndexFunc(a.Lines, func(l compare.Line) bool { return l.Mechanism == "cmp" })
		if x, ok := a.Pair(fix, cmp); a.Task.Model != "svm" && (!ok || !x.Told || x.Difference < 0) {
			t.Errorf("%v: %+v", a.Task, x)
		}
	}

	// 3: the published numbers.
	counts, reviews := map[Metric]int{}, map[Metric]int{}
	for _, k := range Replicate(records.View(t, "replication", "replication-imdb")) {
		if k.Verdict == Same || k.Verdict == Near {
			map[string]map[Metric]int{"agnews": counts, "imdb": reviews}[k.Dataset][k.Metric]++
		}
	}

	// 4: the agency.
	p := records.View(t, "attacks")
	found := gridOf(t, tables.All(p), "strongest-agnews-agency").value(t, place{"Uniform", ""},
		"private label found, strongest attacker")
	var agency results.Measured
	for _, c := range p.Cells {
		if m, ok := c.At("strongest-label"); ok && c.Dataset == "agnews-agency" {
			agency = m
		}
	}
	holds(t, "../README.md",
		fmt.Sprintf("fails in %.0f%% of cases against CMP and in %.0f%% against SanText and TEM", percent("cmp"),
			percent("santext")),
		fmt.Sprintf("%d of 42 N_w and S_w and %d of 22 accuracies come out, %d of 42 PP and LOW", counts["n_w"]+counts["s_w"],
			counts["accuracy"], counts["pp"]+counts["low"]),
		fmt.Sprintf("of IMDb %d of 42 and %d of 22", reviews["n_w"]+reviews["s_w"], reviews["accuracy"]),
		fmt.Sprintf("news agency in %.0f%% of items (guessing %.0f, text as published %.0f)", found,
			100*float64(agency.Floor), 100*float64(agency.Ceiling)))
}
