package published

import (
	"fmt"
	"math"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/internal/records"
	"mldpbench/metrics"
	"mldpbench/results"
)

func TestTablesAreComplete(t *testing.T) {
	p := Printed()
	for _, at := range places() {
		columns := []string{"accuracy"}
		if at.Mechanism != results.BaselineMechanism {
			columns = append(columns, "n_w", "s_w", "pp", "cs", "low_overlap", "puc_75", "puc_50", "puc_25")
		}
		for _, c := range columns {
			if v, ok := p.Value(at, c); !ok || !(v >= 0 && v <= 100) {
				t.Errorf("%v %s = %v, %v", at, c, v, ok)
			}
		}
	}
	if v, _ := p.Value(Place{"imdb", 100, 5, "cmp"}, "english_as_printed"); v != 67.77 {
		t.Errorf("English %% = %v, want 67.77", v)
	}
	if _, ok := p.Value(Place{"imdb", 100, 2, "cmp"}, "accuracy"); ok {
		t.Error("what is not printed must be missing")
	}
}

// one is a made-up row of CMP at ε = 10 on AG News as the study's code runs it,
// where N_w 60.2, S_w 37.2, PP 35.3, LOW 25.1 and accuracy 84.26 are printed.
func one(repetition int, key string, change func(*results.Row)) results.Row {
	r := results.NewRow()
	r.Study, r.Seed, r.Repetition, r.Key = "replication", 1, repetition, fmt.Sprint(key, repetition)
	r.Dataset, r.Embedding, r.Dimension, r.TestItems = "agnews-2024", "glove.6B.words", 100, 4000
	r.Mechanism, r.Variant, r.Epsilon, r.Policy = "cmp", "as-run", results.Float(10), "keep"
	if key == "accuracy" {
		r.Model, r.Setting = "lstm-2024", "train-only"
	}
	change(&r)
	return r
}

func compared(t *testing.T, change func(*results.Row)) map[string]Number {
	t.Helper()
	var rows []results.Row
	for i, unchanged := range []int{590, 600, 610, 620} {
		nw, sw := results.Deniability([]metrics.Deniability[string]{{Word: "good", Runs: 1000, Unchanged: unchanged,
			Distinct: 38}})
		words := one(i+1, "words", change)
		rows = append(rows, words.Of("n_w", nw), words.Of("s_w", sw))
		if i == 0 {
			text := one(1, "text", change)
			rows = append(rows, text.Of("pp", results.Share(353, 1000)), text.Of("low_overlap", results.Share(280, 1000)))
		}
		if i < 2 {
			rows = append(rows, one(i+1, "accuracy", change).Of("accuracy", results.Share(3300+i*50, 4000)))
		}
	}
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Number{}
	for _, k := range Compare(p) {
		if found[k.Quantity] = k; k.Epsilon != 10 || k.Mechanism != "cmp" && k.Mechanism != "mahalanobis" {
			t.Errorf("%+v was not measured", k)
		}
	}
	return found
}

// TestCompare: each quantity has its verdict at every dimension that both have;
// other vectors, samples, variants, models and parameters are other numbers.
func TestCompare(t *testing.T) {
	for d, want := range map[int]map[string]Verdict{
		100: {"n_w": Near, "s_w": Apart /* no spread */, "pp": Same, "low_overlap": Apart, "accuracy": Near},
		50:  {"n_w": Apart, "s_w": Apart, "pp": Apart, "low_overlap": Apart, "accuracy": Near},
		200: {},
	} {
		got := compared(t, func(r *results.Row) { r.Dimension = d })
		if len(got) != len(want) {
			t.Errorf("d = %d: %d numbers, want %d", d, len(got), len(want))
		}
		for q, verdict := range want {
			if k := got[q]; k.Verdict != verdict || k.Dimension != d || k.As != AsRun {
				t.Errorf("d = %d, %s: %+v, want %s", d, q, k, verdict)
			}
		}
	}
	for name, change := range map[string]func(*results.Row){
		"vectors": func(r *results.Row) { r.Embedding = "local" }, "sample": func(r *results.Row) { r.TestItems = 200 },
		"variant": func(r *results.Row) { r.Variant = "released" }, "texts": func(r *results.Row) { r.Dataset = "sst2" },
		"parameters": func(r *results.Row) { r.Mechanism, r.Parameters = "mahalanobis", "lambda=0.5" },
	} {
		if got := compared(t, change); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	described := compared(t, func(r *results.Row) {
		r.Dataset, r.Variant = "agnews", "proved"
		if r.Model != "" {
			r.Model, r.Setting = "lstm", "local"
		}
	})
	if k := described["accuracy"]; len(described) != 5 || k.As != AsDescribed || k.Setting != "local" || k.Verdict != Near {
		t.Errorf("as described: %+v", described)
	}
	undefined := compared(t, func(r *results.Row) { r.Status, r.Reason = results.StatusUndefined, "small" })
	if k := undefined["accuracy"]; k.Verdict != Undefined || !math.IsNaN(k.Ours) {
		t.Errorf("undefined: %+v", k)
	}
}

// TestRecords: the counts of report 2 are those of the committed records.
func TestRecords(t *testing.T) {
	t.Parallel()
	p := records.View(t, "replication", "replication-imdb", "replication-fits", "comparative")
	counts := map[string]int{}
	for _, k := range Compare(p) {
		if k.Verdict == Same || k.Verdict == Near {
			counts[k.As+" "+k.Dataset+" "+k.Quantity]++
		}
	}
	for what, want := range map[string]int{
		"as run agnews n_w": 18, "as run agnews s_w": 18, "as run agnews pp": 13, "as run agnews low_overlap": 11,
		"as run agnews english_as_printed": 4, "as run agnews accuracy": 17, "as run imdb n_w": 18, "as run imdb s_w": 18,
		"as run imdb pp": 15, "as run imdb low_overlap": 2, "as run imdb english_as_printed": 7, "as run imdb accuracy": 9,
		"as described agnews n_w": 10, "as described agnews s_w": 10,
	} {
		if counts[what] != want {
			t.Errorf("%s: %d come out, want %d", what, counts[what], want)
		}
	}
	table := Tables(p)[0]
	want := "as run|AG News|100|CMP|10|N_w|60.2|60.8|+0.6|near"
	found := false
	for _, row := range table.Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		found = found || strings.Join(cells, "|") == want
	}
	if !found || !strings.Contains(table.Legend, "draw of 25 words") {
		t.Errorf("no row %s, or no rule in %s", want, table.Legend)
	}
	if len(Tables(records.View(t, "mini"))) > 0 {
		t.Error("mini measures nothing that was printed")
	}
}
