package tables

import (
	"encoding/csv"
	"strings"
	"testing"
)

// A spreadsheet must not run what a name of the user's says; numbers stay
// numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	table := Table{Header: []string{"=cmd|' /C calc'!A0", "b"}}
	cells := map[string]string{
		"=1+1": "'=1+1", "+SUM(A1)": "'+SUM(A1)", "-2+3+cmd|' /C calc'!A0": "'-2+3+cmd|' /C calc'!A0",
		"@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "-0.5": "-0.5", "-1.2 ± 0.3": "-1.2 ± 0.3",
		"-1.2 [-2.0, 0.1]": "-1.2 [-2.0, 0.1]", "-1e-06": "-1e-06", "–": "–", "cmp": "cmp", "": "",
	}
	for text := range cells {
		table.AddRow(text, "x")
	}
	var b strings.Builder
	if err := table.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	read, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if read[0][0] != "'=cmd|' /C calc'!A0" {
		t.Errorf("header %q", read[0][0])
	}
	for i, row := range read[1:] {
		if text := table.Rows[i][0].Text; row[0] != cells[text] {
			t.Errorf("%q is written as %q, want %q", text, row[0], cells[text])
		}
	}
}
