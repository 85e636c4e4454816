package results

import (
	"math"
	"strings"
	"testing"
)

// By hand, plain text having 80: TEM falls from 90 + j at E_M = 0.1 to 70 + j at 0.7
// and crosses 75 at 0.55 + 0.03·j, j from −0.4 to 0.4; Vickrey has lost 5 points at
// its smallest error in two of five repetitions; CMP has lost more everywhere,
// Gumbel less.
func TestPromises(t *testing.T) {
	t.Parallel()
	records := standing()
	for i := range records {
		if r := &records[i]; r.Mechanism == "tem" {
			r.GuaranteeScope = "between words of one of its 7 groups"
			if r.Epsilon == 1 {
				r.Accuracy -= 4.9
			}
			r.PrivatizeSeconds, r.WordsPerSecond, r.PrivatizeTexts = 2, 1000, 1
		}
	}
	audit := []AuditRow{
		{Mechanism: "tem", Epsilon: 1, Promises: true, Lower: 0.5},
		{Mechanism: "vickrey", Epsilon: 1, Promises: true, Lower: 0.5},
		{Mechanism: "vickrey", Epsilon: 10, Promises: true, Lower: 12, Violated: true},
		{Mechanism: "gumbel", Epsilon: 1, Lower: math.Inf(1), Violated: true},
		{Mechanism: "cmp", Epsilon: 1, Promises: true, Lower: math.NaN()},
	}
	for i, a := range audit {
		for _, r := range records {
			if r.Mechanism == a.Mechanism {
				audit[i].Variant, audit[i].Parameters = r.Variant, r.Parameters
			}
		}
	}
	var found *Table
	for _, table := range Tables(TableInputs{Records: records, Audit: audit}) {
		if strings.HasPrefix(table.Name, "promises") {
			found = &table
		}
	}
	if found == nil || found.Name != "promises-lstm-local" {
		t.Fatalf("%+v", found)
	}
	got := map[string][]string{}
	for _, row := range found.Rows {
		for _, c := range row[1:] {
			got[row[0].Text] = append(got[row[0].Text], c.Text)
		}
	}
	for name, want := range map[string]string{
		"TEM": "ε, euclidean, some words|not refuted|0.55 ± 0.01|1000", "Vickrey": "ε, euclidean|refuted|0.60 (3 of 5)|–",
		"CMP": "ε, euclidean|–|< 0.50|–", "Truncated Gumbel": "none|violates ε|> 0.90|–",
	} {
		if line := strings.Join(got[name], "|"); line != want {
			t.Errorf("%s: %q, want %q", name, line, want)
		}
	}
	if text := render(t, *found, "md"); !strings.Contains(text, "holds only between words of one of its 7 groups") {
		t.Error("the scope is not said")
	}
}

func TestCrossing(t *testing.T) {
	line := func(points ...Float) (out []Record) {
		for i := 0; i < len(points); i += 2 {
			out = append(out, Record{EMMap: points[i], Accuracy: points[i+1]})
		}
		return out
	}
	for _, c := range []struct {
		line []Record
		want float64
		ok   bool
	}{
		{line(0.9, 60, 0.5, 80), 0.6, true},
		{line(0.1, 80, 0.3, 70, 0.5, 80, 0.7, 70), 0.2, true}, // the first of two
		{line(0.5, 75, 0.6, 70), 0.5, true},
		{line(0.1, 80, 0.9, 70), 0.5, false}, // a guess at what was not measured
		{line(0.1, 70, 0.9, 60), 0, false},
		{line(0.1, 80), 0, false},
	} {
		got, ok := crossing(c.line, 75)
		if ok != c.ok || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%v: %v, %v, want %v, %v", c.line, got, ok, c.want, c.ok)
		}
	}
}
