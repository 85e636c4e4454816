package results

import (
	"math"
	"strings"
	"testing"

	"mldpbench/metrics"
)

// missingRecord has no measurement.
func missingRecord() Record {
	r := NewRecord()
	r.Status, r.Study, r.Seed = StatusOK, "test", 1
	return r
}

func baselineRecord(index, repetition, correct int) Record {
	r := missingRecord()
	r.Index, r.Repetition, r.Key = index, repetition, string(rune('a'+index))
	r.Dataset, r.Embedding, r.Dimension, r.Model, r.Setting = "imdb", "glove.6B.100d", 100, "lstm", "local"
	r.Mechanism = BaselineMechanism
	r.TestCorrect, r.TestTotal = correct, 2000
	return r
}

func cellRecord(index, repetition, correct int) Record {
	r := baselineRecord(index, repetition, correct)
	r.Mechanism, r.Variant, r.Epsilon, r.Policy = "cmp", "proved", 5, "keep"
	r.TokensChanged, r.TokensTotal = 70, 100
	r.LowPresent, r.LowTotal = 300, 1000
	r.CS, r.CSStdDev, r.CSDocuments, r.CSEncoder = 50, 10, 300, "test"
	r.SetDeniability([]metrics.Deniability[string]{
		{Word: "good", Runs: 50, Unchanged: 10, Distinct: 20},
		{Word: "a:b", Runs: 50, Unchanged: 0, Distinct: 40},
	})
	return r
}

func TestDerive(t *testing.T) {
	records := []Record{cellRecord(2, 1, 800), baselineRecord(0, 1, 1700), baselineRecord(1, 2, 1500)}
	got, err := Derive(records)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Mechanism != BaselineMechanism || got[2].Mechanism != "cmp" {
		t.Fatal("not sorted by index")
	}
	r := got[2]
	near(t, "accuracy", float64(r.Accuracy), 40, 0)
	near(t, "baseline", float64(r.BaselineAccuracy), 80, 1e-12)
	near(t, "n_w", float64(r.Nw), 10, 1e-12)
	near(t, "s_w", float64(r.Sw), 30, 1e-12)
	near(t, "n_w_worst", float64(r.NwWorst), 20, 1e-12)
	near(t, "s_w_worst", float64(r.SwWorst), 20, 0)
	// S_w of 50 runs counts double: 30 of 50 is 60 of 100. Privacy 68, utility 50.
	near(t, "puc_75", float64(r.PUC75), 54.5, 1e-12)
	near(t, "puc_25", float64(r.PUC25), 63.5, 1e-12)
	if got[0].PUC50.Known() {
		t.Error("a baseline has no composite")
	}
	if records[0].PUC75.Known() {
		t.Error("Derive changed its input")
	}
	near(t, "cs_low", float64(r.CSLow), 50-1.96793*10/math.Sqrt(300), 1e-5) // t(0.975, 299 df)
}

func TestDeriveBorrowsSimilarity(t *testing.T) {
	second := cellRecord(2, 2, 800)
	second.CS, second.CSStdDev, second.CSDocuments = Missing, Missing, 0
	got, err := Derive([]Record{baselineRecord(0, 1, 1600), cellRecord(1, 1, 800), second})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "puc_75", float64(got[2].PUC75), 54.5, 1e-12)
	if got[2].CS.Known() {
		t.Error("the measurement itself must stay missing")
	}
}

func TestDeriveWithoutBaselineIsMissing(t *testing.T) {
	other := baselineRecord(0, 1, 1600)
	other.Dimension = 50
	undefined := cellRecord(2, 1, 0)
	undefined.Status, undefined.TestTotal = StatusUndefined, 0
	got, err := Derive([]Record{other, cellRecord(1, 1, 800), undefined})
	if err != nil {
		t.Fatal(err)
	}
	if got[1].BaselineAccuracy.Known() || got[1].PUC75.Known() || got[2].PUC75.Known() {
		t.Error("a composite without its baseline must be missing")
	}
}

func TestRecomputeRefusesContradiction(t *testing.T) {
	r := cellRecord(0, 1, 1)
	r.NwUnchanged++
	if err := r.Recompute(); err == nil || !strings.Contains(err.Error(), "deniability_words") {
		t.Errorf("err = %v", err)
	}
	r = cellRecord(0, 1, 1)
	r.DeniabilityWords = "good:x:1 bad:1:1"
	if err := r.Recompute(); err == nil {
		t.Error("a count that is no number must be an error")
	}
}

func TestDeniabilityWordsRoundTrip(t *testing.T) {
	words, err := cellRecord(0, 1, 1).Deniability()
	if err != nil {
		t.Fatal(err)
	}
	if len(words) != 2 || words[1] != (metrics.Deniability[string]{Word: "a:b", Runs: 50, Unchanged: 0, Distinct: 40}) {
		t.Errorf("%+v", words)
	}
}

// S_w is published without the word itself.
func TestSwOthers(t *testing.T) {
	near(t, "SwOthers", cellRecord(0, 1, 1).SwOthers(), (19.+40)/2, 1e-12)
}
