package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"mldpbench/results"
	"mldpbench/results/analysis"
)

// TestReadmeSaysWhatTheRecordsSay recomputes the numbers of README's findings.
func TestReadmeSaysWhatTheRecordsSay(t *testing.T) {
	s := newSource(reference)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(readme)), " ")
	says := func(sentence string) {
		t.Helper()
		if !strings.Contains(page, sentence) {
			t.Errorf("README does not say %q, which the records do", sentence)
		}
	}
	of := func(record, measured, dataset, mechanism string, epsilon float64) float64 {
		t.Helper()
		found, err := s.cells(record, measured, dataset, mechanism, []float64{epsilon})
		if err != nil {
			t.Fatal(err)
		}
		v, _ := mean(found, measured)
		return 100 * v
	}
	cmp := of("comparative", "em", "agnews", "cmp", 5)
	santext := of("comparative", "em", "agnews", "santext", 5)
	says(fmt.Sprintf("a Bayes adversary misidentifies %.0f%% of the words behind CMP and %.0f%% of those behind SanText "+
		"and TEM", cmp, santext))
	says(fmt.Sprintf("in %.0f%% of items as a study reads them (guessing 50)",
		of("attacks", "strongest-label", "agnews-agency", "uniform", 1)))
	exponent, err := s.exponent("extended", "em=0.5", "imdb", "rank-fix", 3.535)
	if err != nil {
		t.Fatal(err)
	}
	says("ε·d is " + exponent + " to the nearest word")
	for _, c := range []struct {
		level, dataset string
		ahead          int // of how many of the six the rank fix is significantly above
	}{
		{"em=0.5", "agnews", 6},
		{"em=0.5", "imdb", 6},
		{"em-frequency=0.5", "agnews", 4},
		{"em-frequency=0.5", "imdb", 3},
	} {
		all, err := s.aligned("extended", c.level)
		if err != nil {
			t.Fatal(err)
		}
		ahead := 0
		for _, a := range all {
			if a.Dataset == c.dataset {
				ahead += aheadOf(a, "cmp", "mahalanobis", "santext", "tem", "syntf", "k-rr")
			}
		}
		if ahead != c.ahead {
			t.Errorf("at %s on %s the rank fix is significantly above %d of the six mechanisms, README says %d",
				c.level, results.DatasetTitle(c.dataset), ahead, c.ahead)
		}
	}
}

// aheadOf counts the mechanisms that the rank fix is significantly above.
func aheadOf(a analysis.Alignment, others ...string) int {
	ahead := 0
	for _, other := range others {
		if lineOf(a, other) < 0 {
			continue
		}
		pair, tested := a.Pair(lineOf(a, "rank-fix"), lineOf(a, other))
		if tested && pair.Different && pair.Difference > 0 {
			ahead++
		}
	}
	return ahead
}
