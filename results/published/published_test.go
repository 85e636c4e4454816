package published

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	_ "mldpbench/experiments/measure" // names of its quantities
	"mldpbench/metrics"
	"mldpbench/results"
)

// places are the printed numbers by the rows of the tables, without quantity.
func places() map[results.Place]map[string]float64 {
	all := map[results.Place]map[string]float64{}
	for _, n := range Printed() {
		if all[n.Place] == nil {
			all[n.Place] = map[string]float64{}
		}
		all[n.Place][n.Quantity] = n.Printed
	}
	return all
}

// Every mechanism, data set, dimension and ε has all that is printed of it, English % at each dimension.
func TestTablesAreComplete(t *testing.T) {
	p := places()
	if len(p) != 2*3*(1+7*3) {
		t.Errorf("%d rows", len(p))
	}
	for at, printed := range p {
		columns := []string{"accuracy", "english_as_printed"}
		if !at.IsBaseline() {
			columns = append(columns, "n_w", "s_w", "pp", "cs", "low_overlap", "puc_75", "puc_50", "puc_25")
		}
		for _, c := range columns {
			if v, ok := printed[c]; !ok || !(v >= 0 && v <= 100) || len(printed) != len(columns) {
				t.Errorf("%v %s = %v, %v", at, c, v, ok)
			}
		}
	}
	at := results.Place{Dataset: "imdb", Dimension: 100, Epsilon: results.Float(5), Mechanism: "cmp"}
	if v := p[at]["english_as_printed"]; v != 67.77 {
		t.Errorf("English %% = %v, want 67.77", v)
	}
}

// Every PUC stands under the mechanism that it is of: it follows from Tables 3, 6 and 7, but for four numbers of IMDb,
// of a misprint and of an S_w that is 85.0.
func TestPUCFollowsFromTheOtherTables(t *testing.T) {
	p, all, apart := places(), 0, 0
	for at, of := range p {
		baseline := results.Place{Dataset: at.Dataset, Dimension: at.Dimension, Mechanism: results.BaselineMechanism}
		plain := p[baseline]["accuracy"]
		private := (200 - of["n_w"] + of["s_w"] + of["pp"] + of["cs"] - of["low_overlap"]) / 5
		for _, alpha := range []float64{0.75, 0.5, 0.25} {
			puc, ok := of[fmt.Sprintf("puc_%g", 100*alpha)]
			if !ok {
				continue
			}
			if all++; !(math.Abs(alpha*100*of["accuracy"]/plain+(1-alpha)*private-puc) <= 0.016) {
				apart++
				if at.Dataset != "imdb" || at.Dimension != 100 {
					t.Errorf("%+v, α = %g: %g is printed", at, alpha, puc)
				}
			}
		}
	}
	if all != 378 || apart != 4 {
		t.Errorf("%d of %d are apart", apart, all)
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
		if found[k.Quantity] = k; k.Epsilon != results.Float(10) || k.Mechanism != "cmp" && k.Mechanism != "mahalanobis" {
			t.Errorf("%+v was not measured", k)
		}
	}
	return found
}

// TestCompare: each quantity has its verdict at every dimension that both have;
// other vectors, samples, variants, models and parameters are other numbers.
func TestCompare(t *testing.T) {
	for d, want := range map[int]map[string]Verdict{
		100: {"n_w": Near, "s_w": Near, "pp": Same, "low_overlap": Apart, "accuracy": Near},
		50:  {"n_w": Apart, "s_w": Apart, "pp": Apart, "low_overlap": Apart, "accuracy": Near},
		200: {},
	} {
		got := compared(t, func(r *results.Row) { r.Dimension = d })
		if len(got) != len(want) {
			t.Errorf("d = %d: %d numbers, want %d", d, len(got), len(want))
		}
		for q, verdict := range want {
			if k := got[q]; k.Verdict != verdict || k.Dimension != d || k.As != asRun {
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
	if k := described["accuracy"]; len(described) != 5 || k.As != asDescribed || k.Setting != "local" ||
		k.Verdict != Near {
		t.Errorf("as described: %+v", described)
	}
	small := compared(t, func(r *results.Row) { r.Status, r.Reason = results.StatusUndefined, "small" })
	if k := small["accuracy"]; k.Verdict != undefined || !math.IsNaN(k.Ours) {
		t.Errorf("undefined: %+v", k)
	}
}

// CS and PUC are judged by the study's encoder alone.
func TestAnotherEncoderHasNoVerdict(t *testing.T) {
	for detail, want := range map[string]Verdict{"sentence-transformers/" + encoder: Near,
		"use-lite-onnx": otherEncoder} {
		cs := results.Number(75.5) // 75.0 is printed
		cs.Detail = detail
		p, err := results.Prepare(results.Run{Rows: []results.Row{one(1, "text", func(*results.Row) {}).Of("cs", cs)}})
		if err != nil {
			t.Fatal(err)
		}
		all := Compare(p)
		if len(all) != 1 || all[0].Verdict != want {
			t.Errorf("%s: %+v, want %s", detail, all, want)
		}
		judged := map[Verdict]string{Near: "Of 1 printed", otherEncoder: "Of 0 printed"}[want]
		if text := sentence(all); !strings.HasPrefix(text, judged) {
			t.Error(text)
		}
	}
}

// Every item of every paper has a run that is listed and something to show, or says
// how else; every run whose rows are not kept is of an item; a fit of the printed text has the row that it fits.
func TestPapers(t *testing.T) {
	used := map[string]bool{}
	for _, p := range Papers() {
		for _, i := range p.Items {
			for _, name := range i.Runs {
				r, err := results.FindRecord(name)
				if err != nil {
					t.Errorf("%s, %s needs %s: %v", p.Name, i.Name, name, err)
				}
				if r.Time() <= 0 {
					t.Errorf("%s, %s needs %s, which takes %g minutes, want > 0", p.Name, i.Name, name, r.Time())
				}
				used[r.Name] = true
			}
			shows := len(i.Published)+len(i.Tables)+len(i.Figures) > 0
			if shows != (len(i.Runs) > 0) {
				t.Errorf("%s, %s shows something: %v, has runs: %v, want both or none", p.Name, i.Name, shows, !shows)
			}
			if !shows && i.Otherwise == "" {
				t.Errorf("%s, %s shows nothing and does not say why", p.Name, i.Name)
			}
		}
	}
	for _, r := range results.Records() {
		if r.File == "" && !used[r.Name] {
			t.Errorf("no item needs the run %s, whose rows are not kept", r.Name)
		}
	}
	want := []string{"replication/accuracy", "replication-50/accuracy"}
	study := Papers()[0]
	got := study.Wanted([]string{"Table 3", "Table 6"}, "agnews")
	if len(got) != 1 || !slices.Equal(got[0].Runs, want) {
		t.Fatalf("Tables 3 and 6 on AG News are %d items, want Table 3 alone, of %v", len(got), want)
	}
	command, minutes := study.Makes(got[0])
	if command != "mldp reproduce 2024 --table 3 --dataset agnews" {
		t.Errorf("Table 3 is made by %q, want mldp reproduce 2024 --table 3 --dataset agnews", command)
	}
	if minutes != 55 {
		t.Errorf("Table 3 takes %g minutes, want 55", minutes)
	}
	fitted := compared(t, func(r *results.Row) {
		r.Mechanism, r.Parameters, r.Policy = "mahalanobis", "lambda=0.5", "random"
	})
	if k := fitted["pp"]; k.As != asFitted || k.Mechanism != "mahalanobis" {
		t.Errorf("%+v", k)
	}
}
