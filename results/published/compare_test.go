package published

import (
	"math"
	"strings"
	"testing"

	"mldpbench/results"
)

// publishedAs makes records with exactly the numbers that the paper prints for
// CMP on IMDb at d=100, shifted by some points.
func publishedAs(shift float64) []results.Record {
	var records []results.Record
	for i := range 5 {
		r := cellRecord(i, i+1, 0)
		r.Epsilon, r.Embedding = 10, "glove.6B"
		jitter := []float64{-0.4, -0.2, 0, 0.2, 0.4}[i]
		r.TestCorrect, r.TestTotal = int(math.Round(20*(78.85+shift+jitter))), 2000
		r.DeniabilityWords, r.NwRuns, r.SwWords, r.NwUnchanged, r.SwDistinct = "", 0, 0, 0, 0
		r.Nw, r.Sw = results.Missing, results.Missing
		r.TokensChanged, r.TokensTotal = int(math.Round(100*(Printed().Value(Place{"imdb", 100, 10, "cmp"},
			"pp")+shift+jitter))), 10000
		r.CS, r.CSEncoder = results.Float(Printed().Value(Place{"imdb", 100, 10, "cmp"}, "cs")),
			"paraphrase-distilroberta-base-v1"
		r.LowPresent, r.LowTotal, r.English = 0, 0, results.Missing
		if err := r.Recompute(); err != nil {
			panic(err)
		}
		records = append(records, r)
	}
	return records
}

func compared(t *testing.T, records []results.Record) map[Metric]Comparison {
	t.Helper()
	all, err := Compare(records, DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	byMetric := map[Metric]Comparison{}
	for _, k := range all {
		byMetric[k.Metric] = k
	}
	return byMetric
}

func TestCompareClasses(t *testing.T) {
	same := compared(t, publishedAs(0))
	for _, m := range []Metric{"accuracy", "pp", "cs"} {
		if k := same[m]; k.Class != Agrees {
			t.Errorf("%s: %+v, want agrees", m, k)
		}
	}
	other := compared(t, publishedAs(-3))
	for _, m := range []Metric{"accuracy", "pp"} {
		if k := other[m]; k.Class != Differs || k.Cause == "" || math.Abs(k.Difference+3) > 0.2 {
			t.Errorf("%s: %+v, want differs by 3 with a cause", m, k)
		}
	}
	if _, measured := same["n_w"]; measured {
		t.Error("what was not measured must not be compared")
	}
}

func TestCompareRefusesTheIncomparable(t *testing.T) {
	for want, change := range map[string]func(*results.Record){
		"embedding local":       func(r *results.Record) { r.Embedding = "local" },
		"model svm":             func(r *results.Record) { r.Model = "svm" },
		"1000 test documents":   func(r *results.Record) { r.TestTotal = 1000 },
		"undefined here: small": func(r *results.Record) { r.Status, r.Reason = results.StatusUndefined, "small" },
	} {
		records := publishedAs(0)
		for i := range records {
			change(&records[i])
		}
		if k := compared(t, records)["accuracy"]; k.Class != NotComparable || !strings.Contains(k.Cause, want) {
			t.Errorf("%s: %+v", want, k)
		}
	}
	records := publishedAs(0)
	for i := range records {
		records[i].CSEncoder = "use-lite"
	}
	got := compared(t, records)
	if got["cs"].Class != NotComparable || got["accuracy"].Class != Agrees {
		t.Errorf("another encoder: %+v", got)
	}
	for i := range records {
		records[i].Dataset = "generated-reviews"
	}
	if all, err := Compare(records, 1); err != nil || len(all) != 0 {
		t.Errorf("a data set the study does not have: %v, %v", all, err)
	}
}

func TestCompareCorrectsTable9(t *testing.T) {
	audit, err := AuditArithmetic()
	if err != nil {
		t.Fatal(err)
	}
	k := Comparison{Place: Place{"agnews", 100, 1, "cmp"}, Definition: Definition{Metric: "puc_50"}}
	k.Published = Printed().Value(k.Place, k.Metric)
	note := k.correctPUC(Printed(), audit)
	if !strings.Contains(note, "79.68") || !strings.Contains(note, "Gumbel") {
		t.Errorf("note %q", note)
	}
	near(t, "corrected", k.Published, 74.808, 0.005) // by table9_agnews_relabelled.csv
}

// An accuracy that differs on text that agrees is about training.
func TestCompareLocatesTheDifference(t *testing.T) {
	records := publishedAs(0)
	for i := range records {
		records[i].TestCorrect -= 200
		if err := records[i].Recompute(); err != nil {
			t.Fatal(err)
		}
	}
	if k := compared(t, records)["accuracy"]; k.Class != Differs || !strings.Contains(k.Cause, "training") {
		t.Errorf("%+v", k)
	}
	if k := compared(t, publishedAs(-3))["accuracy"]; strings.Contains(k.Cause, "training") { // PP differs too
		t.Errorf("%+v", k)
	}
}

func TestCompareTables(t *testing.T) {
	all, err := Compare(publishedAs(-3), DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	md := render(t, CompareTable(all), "md")
	if !strings.Contains(md, "differs") || !strings.Contains(md, "78.85") {
		t.Errorf("table:\n%s", md)
	}
	if md := render(t, CompareSummary(all), "md"); !strings.Contains(md, "accuracy") {
		t.Errorf("summary:\n%s", md)
	}
}

// Rows of two classifiers, two embeddings and two variants in one file: each
// published number is judged once, by the record of what the paper measured.
func TestCompareOfMixedRecords(t *testing.T) {
	records := publishedAs(0)
	add := func(change func(*results.Record)) {
		for _, r := range publishedAs(0) {
			change(&r)
			records = append(records, r)
		}
	}
	add(func(r *results.Record) { r.Model = "svm" })
	add(func(r *results.Record) { r.Embedding = "local" })
	vickrey := func(variant string, correct int) func(*results.Record) {
		return func(r *results.Record) {
			r.Mechanism, r.Variant, r.TestCorrect = "vickrey", variant, correct
			r.TokensTotal, r.PP, r.CS = 0, results.Missing, results.Missing
			if err := r.Recompute(); err != nil {
				t.Fatal(err)
			}
		}
	}
	published := Printed().Value(Place{"imdb", 100, 10, "vickrey"}, "accuracy")
	add(vickrey("proved", int(20*published)))       // agrees, and proves nothing
	add(vickrey("released", int(20*published-200))) // what the paper ran: differs by 10 points
	all, err := Compare(records, DefaultMargin)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for _, k := range all {
		if k.Metric == "pp" && k.Place.Mechanism == "cmp" && k.Embedding == "glove.6B" {
			changed++
		}
		if k.Embedding == "local" && k.Class != NotComparable {
			t.Errorf("local vectors were compared: %+v", k)
		}
	}
	if changed != 1 {
		t.Errorf("text of two classifiers is compared %d times, want once", changed)
	}
	md := strings.Join(strings.Fields(render(t, CompareSummary(all), "md")), " ")
	for _, want := range []string{"| accuracy | 132 | 1 | 1 | 0 | 130 |", "| pp | 126 | 1 | 0 | 0 | 125 |"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in %s", want, md)
		}
	}
	if md := strings.Join(strings.Fields(render(t, CompareMechanisms(all), "md")), " "); !strings.Contains(md,
		"| Vickrey | 0 of 1 |") || !strings.Contains(md, "| CMP | 1 of 1 |") {
		t.Errorf("by mechanism: %s", md)
	}
}
