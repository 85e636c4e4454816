package tables

import (
	"math"
	"testing"

	"mldpbench/results"
)

// Two repetitions of one position are one row with their t interval; what is
// undefined or was not measured is a row without a number; cells of no figure
// are left out.
func TestSummarize(t *testing.T) {
	t.Parallel()
	point := func(panel string, repetition int, quantity string, v results.Float) results.Row {
		r := results.NewRow()
		r.Panel, r.Series, r.XName, r.X, r.Repetition = panel, "CMP", "epsilon", 5, repetition
		r.Key, r.Mechanism, r.Dataset, r.Measurement = panel, "cmp", "d", "m@1"
		return r.Of(quantity, results.Number(float64(v)))
	}
	undefined := point("b", 1, "", results.Missing)
	undefined.Status, undefined.Reason = results.StatusUndefined, "not here"
	p, err := results.Prepare(results.Run{Rows: []results.Row{point("a", 1, "accuracy", 80), point("a", 2, "accuracy", 84),
		point("a", 1, "mia_auc", results.Missing), undefined, point("", 1, "accuracy", 1)}})
	if err != nil {
		t.Fatal(err)
	}
	rows := Summarize(p)
	if len(rows) != 3 {
		t.Fatalf("%+v", rows)
	}
	// The 97.5% quantile of t with one degree of freedom is tan(0.475π); the standard error is 2.
	half := 2 * math.Tan(0.475*math.Pi)
	if r := rows[0]; r.N != 2 || r.Mean != 82 || r.Least != 80 || r.Most != 84 || r.X != 5 || r.Mechanism != "cmp" ||
		math.Abs(float64(r.High)-82-half) > 1e-6 || math.Abs(82-float64(r.Low)-half) > 1e-6 {
		t.Errorf("%+v", r)
	}
	for i, want := range map[int][2]string{1: {"a", "mia_auc"}, 2: {"b", ""}} {
		if r := rows[i]; r.Panel != want[0] || r.Quantity != want[1] || r.N != 0 || r.Mean.Known() || r.Low.Known() {
			t.Errorf("%+v, want %v without a number", r, want)
		}
	}
}
