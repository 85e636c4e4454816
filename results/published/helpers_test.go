package published

import (
	"math"
	"strings"
	"testing"

	"mldpbench/metrics"
	"mldpbench/results"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

func render(t *testing.T, table results.Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// baselineRecord is made up.
func baselineRecord(index, repetition, correct int) results.Record {
	r := results.NewRecord()
	r.Status, r.Study, r.Seed = results.StatusOK, "test", 1
	r.Index, r.Repetition, r.Key = index, repetition, string(rune('a'+index))
	r.Dataset, r.Embedding, r.Dimension, r.Model, r.Setting = "imdb", "glove.6B", 100, "lstm", "local"
	r.Mechanism = results.BaselineMechanism
	r.TestCorrect, r.TestTotal = correct, 2000
	return r
}

func cellRecord(index, repetition, correct int) results.Record {
	r := baselineRecord(index, repetition, correct)
	r.Mechanism, r.Variant, r.Epsilon, r.Policy = "cmp", "proved", 5, "keep"
	r.TokensChanged, r.TokensTotal = 70, 100
	r.LowPresent, r.LowTotal = 300, 1000
	r.CS, r.CSStdDev, r.CSDocuments, r.CSEncoder = 50, 10, 300, "test"
	r.SetDeniability([]metrics.Deniability[string]{{Word: "good", Runs: 50, Unchanged: 10, Distinct: 20}})
	return r
}
