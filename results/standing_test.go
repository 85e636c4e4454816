package results

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// standing makes records of three mechanisms with a guarantee and one without
// at two ε. Computed by hand: at E_M ≥ 0.5 Vickrey keeps 75 at ε = 10, CMP 70
// at ε = 10, TEM 74.9 at ε = 1; at ε = 10 TEM keeps 90 but leaves an error of
// 0.1 only.
func standing() []Record {
	var out []Record
	add := func(mechanism string, epsilon, accuracy, em float64, guarantee string) {
		for i, jitter := range []float64{-0.4, -0.2, 0, 0.2, 0.4} {
			r := cellRecord(len(out), i+1, 0)
			r.Mechanism, r.Epsilon, r.GuaranteeMetric = mechanism, Float(epsilon), guarantee
			r.Accuracy, r.EMMap, r.GuaranteeEpsilon = Float(accuracy+jitter), Float(em), Float(epsilon)
			out = append(out, r)
		}
	}
	add("vickrey", 1, 60, 0.9, "euclidean")
	add("vickrey", 10, 75, 0.6, "euclidean")
	add("cmp", 1, 55, 0.9, "euclidean")
	add("cmp", 10, 70, 0.5, "euclidean")
	add("tem", 1, 74.9, 0.7, "euclidean")
	add("tem", 10, 90, 0.1, "euclidean")
	add("gumbel", 1, 95, 0.9, "")
	base := baselineRecord(len(out), 1, 1600)
	base.Accuracy = 80
	return append(out, base)
}

func TestHeadline(t *testing.T) {
	got := Headline(standing())
	want := "On IMDb (glove.6B.100d d=100, lstm), at an adversary's error of at least 0.5, Vickrey keeps 75.0% " +
		"accuracy (ε = 10; 80.0% without privatisation), 5.0 points more than CMP; TEM is not distinguishable from it."
	if len(got) != 1 || got[0] != want {
		t.Errorf("headline %q,\nwant %q", got, want)
	}
	none := Standings(standing(), 0.95)
	if len(none) != 1 || !strings.Contains(none[0].Sentence(),
		"no mechanism with a guarantee leaves the adversary an error of at least 0.95") {
		t.Errorf("%+v", none)
	}
}

func TestNamesInSentences(t *testing.T) {
	for name, want := range map[string]string{"CMP": "CMP", "TEM, γ=0.5, β=0.1": "TEM (γ=0.5, β=0.1)"} {
		if got := inSentence(name); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A guarantee between some words only is never shown as a full one and never
// wins over one.
func TestScopedGuaranteesSaySo(t *testing.T) {
	records := standing()
	for i := range records {
		if records[i].Mechanism == "vickrey" {
			records[i].GuaranteeScope = "between words of one of its 7 groups, none between groups"
		}
	}
	s := Headline(records)[0]
	for _, want := range []string{
		"at an adversary's error of at least 0.5, TEM keeps 74.9% accuracy",
		". Vickrey‡ keeps 75.0% (ε = 10), but its guarantee holds only between words of one of its 7 groups",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("headline %q has no %q", s, want)
		}
	}
	for _, table := range []Table{StandingsTable(records), Brief(records, 10)} {
		if i := slices.IndexFunc(table.Rows[0], func(c TableCell) bool {
			return c.Text == "TEM"
		}); i < 0 || len(table.Rows[0][i].Notes) != 1 ||
			!strings.Contains(table.Notes[table.Rows[0][i].Notes[0]], "Vickrey‡ keeps 75.0%") {
			t.Errorf("%s: %+v, notes %q", table.Name, table.Rows[0], table.Notes)
		}
	}
	if text := render(t, StandingsTable(records), "md"); !strings.Contains(text, "no full promise") {
		t.Errorf("standings:\n%s", text)
	}
	only := Where(records, func(r Record) bool { return r.IsBaseline() || r.GuaranteeScope != "" })
	if s := Headline(only)[0]; !strings.Contains(s, "no mechanism with a guarantee between any two words leaves") ||
		!strings.Contains(s, "Vickrey‡ keeps 75.0%") {
		t.Errorf("headline %q", s)
	}
	if brief := Brief(records, 1); len(brief.Rows) != 1 || brief.Legend != "Further rows on the page: 1." {
		t.Errorf("brief %+v", brief)
	}
	seen := 0
	for _, table := range Tables(TableInputs{Records: records}) {
		text := render(t, table, "md")
		switch {
		case table.Name == "guarantees" && !strings.Contains(text, "one of its 7 groups"), strings.HasPrefix(table.Name,
			"rank") && strings.Contains(text, "Vickrey") && !strings.Contains(text, "holds only between words"):
			t.Errorf("table %s does not say the scope:\n%s", table.Name, text)
		case table.Name == "guarantees":
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("%d tables of guarantees", seen)
	}
	if got := Refute(records, []AuditRow{{Mechanism: "vickrey", Variant: "proved", Epsilon: 10, Promises: true,
		Violated: true}})[0]; got.GuaranteeScope != "" {
		t.Error("a refuted mechanism keeps its scope")
	}
	if ScopeNote(standing()) != "" {
		t.Error("a note about scopes that nothing has")
	}
}

// A mechanism that an audit found in violation has no badge and does not
// compete.
func TestRefutedMechanismsDoNotWin(t *testing.T) {
	records := Refute(standing(), []AuditRow{
		{Mechanism: "vickrey", Variant: "proved", Epsilon: 10, Promises: true, Lower: 12, Violated: true},
		{Mechanism: "cmp", Variant: "proved", Epsilon: 10, Promises: true, Lower: 3},
	})
	if s := Headline(records)[0]; !strings.Contains(s, "TEM keeps 74.9%") || strings.Contains(s, "Vickrey") {
		t.Errorf("headline %q", s)
	}
	for _, r := range records {
		if r.Mechanism == "vickrey" && (r.GuaranteeMetric != "" ||
			!strings.Contains(r.GuaranteeReason, "refuted by the audit")) {
			t.Errorf("%+v", r)
		}
		if r.Mechanism == "cmp" && r.GuaranteeMetric == "" {
			t.Error("a claim that was not refuted is gone")
		}
	}
	for _, table := range Tables(TableInputs{Records: records}) {
		if table.Name == "guarantees" && !strings.Contains(render(t, table, "md"), "refuted by the audit") {
			t.Error("the table of guarantees knows no audit")
		}
	}
}

// The headline of the committed study is what its file says.
func TestHeadlineOfTheReference(t *testing.T) {
	path := filepath.Join("reference", "comparative.csv")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no reference results here")
	}
	stored, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	records, err := Derive(stored)
	if err != nil {
		t.Fatal(err)
	}
	// The best mean accuracy on IMDb among cells with a guarantee and E_M ≥ 0.5,
	// summed up here without the code under test.
	type cell struct {
		mechanism, variant, parameters string
		epsilon                        Float
	}
	// E_M over all words is measured in the first repetition and holds for all.
	sum, n, em := map[cell]float64{}, map[cell]float64{}, map[cell]float64{}
	for _, r := range records {
		if r.Dataset != "imdb" || r.Setting != "local" || r.GuaranteeMetric == "" || !r.Accuracy.Known() {
			continue
		}
		c := cell{r.Mechanism, r.Variant, r.Parameters, r.Epsilon}
		sum[c], n[c] = sum[c]+float64(r.Accuracy), n[c]+1
		if r.EMFullUniform.Known() {
			em[c] = float64(r.EMFullUniform)
		}
	}
	best := 0.0
	var name string
	for c := range sum {
		if em[c] >= 0.5 && sum[c]/n[c] > best {
			best, name = sum[c]/n[c], MechanismTitle(c.mechanism)
		}
	}
	for _, s := range Headline(records) {
		if strings.HasPrefix(s, "On IMDb") {
			t.Log(s)
			if !strings.Contains(s, name) || !strings.Contains(s, "keeps "+FormatNumber(best, 1)+"% accuracy") {
				t.Errorf("the file says %s with %.1f%%: %s", name, best, s)
			}
			return
		}
	}
	t.Error("no sentence on IMDb")
}

// Two seeds of one study give two rows, not one row with twice the repetitions.
func TestTablesKeepSeedsApart(t *testing.T) {
	a, b := standing(), standing()
	for i := range b {
		b[i].Seed, b[i].Key = 2, "second"+b[i].Key
	}
	for _, table := range Tables(TableInputs{Records: append(a, b...)}) {
		if table.Name != "accuracy-lstm-local" {
			continue
		}
		names := map[string]int{}
		for _, row := range table.Rows {
			names[row[0].Text+"/"+row[1].Text]++
		}
		if names["IMDb, seed 1/CMP"] != 1 || names["IMDb, seed 2/CMP"] != 1 || len(table.Rows) != 10 {
			t.Errorf("rows %v", names)
		}
		return
	}
	t.Error("no table of accuracy")
}
