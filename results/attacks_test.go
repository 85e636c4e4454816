package results

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func init() {
	RegisterQuantity(Column{Name: "guess-of-test", Title: "guessed", Digits: 2, Table: "guess-of-test"})
}

// TestAttackTable: at 5 points lost, between two measured ε, linear in accuracy;
// a mechanism that never loses so much shows its nearest release.
func TestAttackTable(t *testing.T) {
	t.Parallel()
	c := column("guess-of-test")
	row := func(series, panel, quantity string, x, value Float) Record {
		r := NewRecord()
		r.Dataset, r.Series, r.Panel, r.Quantity, r.X, r.Value, r.Chance, r.Ceiling = "news", series, panel, quantity,
			x, value, 25, 90
		return r
	}
	var records []Record
	for _, m := range []struct {
		series         string
		x              Float
		utility, guess Float
	}{
		{"Identity", Missing, 90, 0.8},
		{"CMP", 1, 80, 0.4}, {"CMP", 5, 90, 0.6},
		{"TEM", 1, 89, 0.7}, {"TEM", 5, 90, 0.8},
		{"k-RR", 1, 50, 0.3}, {"k-RR", 5, 60, 0.5},
	} {
		guess := row(m.series, "guess", c.Name, m.x, m.guess)
		if m.series == "CMP" { // ± 0.02 and 0.04
			half := 0.02 + (m.x-1)/4*0.02
			guess.ValueLow, guess.ValueHigh = m.guess-half, m.guess+half
		}
		records = append(records, row(m.series, UtilityPanel, "accuracy", m.x, m.utility), guess)
	}
	attacked := Attacked(records)
	if len(attacked) != 4 || attacked[1].Series != "CMP" {
		t.Fatalf("%+v", attacked)
	}
	r, ok := attacked[1].At(85)
	if !ok || r.Epsilon != 3 || r.Attacks[c.Name] != 0.5 || math.Abs(float64(r.Halves[c.Name])-0.03) > 1e-9 {
		t.Errorf("CMP at 85%%: %+v, %v, want ε = 3 and half of the labels ± 0.03", r, ok)
	}
	if _, ok := attacked[2].At(85); ok {
		t.Error("TEM never loses 5 points")
	}
	s := sheet{records: records}
	tables := s.attackTables(records)
	if len(tables) != 1 {
		t.Fatalf("%d tables", len(tables))
	}
	var lines []string
	for _, row := range tables[0].Rows {
		var cells []string
		for _, cell := range row {
			cells = append(cells, cell.Text)
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	want := []string{"Identity |  | 90.0 | 0.80", "CMP | 3 | 85.0 | 0.50 ± 0.03", "TEM | ≤ 1 | 89.0 | 0.70",
		"k-RR | ≥ 5 | 60.0 | 0.50"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q\nwant %q", lines, want)
	}
}

// TestReleaseTables: a row for every release; a perplexity beside accuracy is no
// accuracy, and data sets of one attacker are not averaged.
func TestReleaseTables(t *testing.T) {
	t.Parallel()
	c := column("guess-of-test")
	var records []Record
	for i, dataset := range []string{"news", "tales"} {
		r := NewRecord()
		r.Dataset, r.Series, r.Panel, r.Quantity, r.X, r.Chance = dataset, "CMP", "guess", c.Name, 5, 0.25
		for _, value := range []Float{0.5, 0.7} {
			r.Value, r.ValueLow, r.ValueHigh = value+Float(i)/10, 0.4, 0.8
			records = append(records, r)
		}
		r.Panel, r.Quantity, r.Value, r.ValueLow, r.ValueHigh = UtilityPanel, "accuracy", 80, 75, 85
		records = append(records, r)
		r.Panel, r.Quantity, r.Value, r.Chance = "text", "loss", 3, Missing
		records = append(records, r)
	}
	r := Attacked(records)[0].Releases[0]
	if _, attacked := r.Attacks["loss"]; r.Utility != 80 || attacked {
		t.Errorf("%+v", r)
	}
	var cells []string
	for _, table := range (sheet{}).releaseTables(records) {
		for _, row := range table.Rows {
			cells = append(cells, row[len(row)-1].Text)
		}
	}
	if want := []string{"3.000 ± 5.000", "0.60 ± 0.20", "3.000 ± 5.000", "0.70 ± 0.20"}; !slices.Equal(cells, want) {
		t.Errorf("%q, want %q", cells, want)
	}
	apart := Distinct(PanelsApart(records), func(r Record) string { return r.Panel })
	if want := []string{"news, guess", "news, utility", "news, text", "tales, guess", "tales, utility",
		"tales, text"}; !slices.Equal(apart, want) {
		t.Errorf("panels %q, want %q", apart, want)
	}
}
