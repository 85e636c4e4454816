package published

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

func TestTablesAreComplete(t *testing.T) {
	p := Printed()
	for _, dataset := range Datasets {
		for _, d := range Dimensions {
			for _, epsilon := range Epsilons {
				for _, m := range Mechanisms {
					for _, metric := range []Metric{"accuracy", "n_w", "s_w", "pp", "cs", "low", "puc_75", "puc_50",
						"puc_25"} {
						if v := p.Value(Place{dataset, d, epsilon, m}, metric); !(v >= 0 && v <= 100) {
							t.Errorf("%v %s = %v", Place{dataset, d, epsilon, m}, metric, v)
						}
					}
				}
			}
		}
	}
	if v := p.Value(Place{"imdb", 0, 5, "cmp"}, "english"); v != 67.77 {
		t.Errorf("English %% = %v, want 67.77", v)
	}
	if v := p.Value(Place{"imdb", 100, 0, results.BaselineMechanism}, "accuracy"); v != 79.81 {
		t.Errorf("baseline = %v, want 79.81", v)
	}
	if !math.IsNaN(p.Value(Place{"imdb", 100, 2, "cmp"}, "accuracy")) {
		t.Error("what is not printed must be missing")
	}
}

// Recomputation must find what was found by hand (MEASURED, "Reverse-engineered
// details of the study").
func TestAuditArithmeticFindsExactlyTheErrata(t *testing.T) {
	audit, err := AuditArithmetic()
	if err != nil {
		t.Fatal(err)
	}
	want := []ArithmeticCheck{
		{"Table 9 (imdb) by eq. 4", 189, 185, ""},
		{"Table 9 (agnews) by eq. 4", 189, 39, ""},
		{"Table 9 (agnews) after relabelling", 189, 189,
			"50 rows stand under another mechanism's name; within each (d, ε) the rows descend by PUC(α=0.5)"},
		{"Table 4 (R²", 11, 5, "n = 126, R² = 0.905; coefficients within 0.026 of print"},
		{"Table 4 with imdb d=100 ε=1 santext s_w = 85.0", 11, 10,
			"n = 126, R² = 0.905; coefficients within 0.002 of print"},
		{"Table 3: cells above baseline", 1, 1, ""},
		{"Carvalho et al. 2023", 1, 0, "44.2%"},
		{"Feyisetan & Kasiviswanathan 2021: gain of M2 over M1 on CR", 1, 1, ""},
		{"Feyisetan & Kasiviswanathan 2021: gain of M2 over M1 on TREC-6", 1, 1, ""},
	}
	if len(audit.Checks) != len(want) {
		t.Fatalf("%d checks, want %d: %+v", len(audit.Checks), len(want), audit.Checks)
	}
	for i, c := range audit.Checks {
		if !strings.HasPrefix(c.Name, want[i].Name) || c.Cells != want[i].Cells || c.Agree != want[i].Agree ||
			!strings.Contains(c.Explanation, want[i].Explanation) {
			t.Errorf("check %d: %+v, want %+v", i, c, want[i])
		}
	}
	if len(audit.Relabelled) != 50 {
		t.Errorf("%d rows relabelled, want 50 (150 cells)", len(audit.Relabelled))
	}
	var others []string
	for _, e := range audit.Errata {
		if !strings.Contains(e.Cause, "the printed row is that of") {
			others = append(others, strings.Join([]string{e.Place, e.Printed, e.Recomputed}, " "))
		}
	}
	wantOthers := []string{
		"imdb d=100 ε=1 santext α=0.75 80.87 80.92",
		"imdb d=100 ε=1 santext α=0.5 80.95 81.05",
		"imdb d=100 ε=1 santext α=0.25 81.02 81.17",
		"imdb d=100 ε=10 syntf α=0.25 77.00 58.78",
		"Carvalho et al. 2023: relative utility improvement at ε=2 42% 44%",
	}
	if !slices.Equal(others, wantOthers) {
		t.Errorf("errata beside permuted rows:\n%s\nwant\n%s", strings.Join(others, "\n"),
			strings.Join(wantOthers, "\n"))
	}
	if !strings.Contains(audit.Errata[0].Cause, "s_w prints 86.0; with 85.0") {
		t.Errorf("cause of the SanText row: %s", audit.Errata[0].Cause)
	}
}

// The relabelling was also worked out independently, by hand.
func TestRelabellingAgreesWithTheTable(t *testing.T) {
	audit, err := AuditArithmetic()
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Dimension int     `csv:"dimension"`
		Epsilon   float64 `csv:"epsilon"`
		Printed   string  `csv:"printed_row"`
		True      string  `csv:"true_mechanism"`
	}
	mustReadPublished("table9_agnews_relabelled.csv", &rows)
	if len(rows) != 189 {
		t.Fatalf("%d rows, want 189", len(rows))
	}
	for _, r := range rows {
		at := Place{"agnews", r.Dimension, r.Epsilon, publishedMechanism(r.Printed)}
		got, moved := audit.Relabelled[at]
		if !moved {
			got = at.Mechanism
		}
		if got != publishedMechanism(r.True) {
			t.Errorf("%v is %s, the table says %s", at, got, r.True)
		}
	}
}
