package legacy

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"mldpbench/results"
)

// Every reference of schema 4 converts, reads back as written and prepares.
func TestReferencesConvert(t *testing.T) {
	paths, _ := filepath.Glob("../reference/*.csv")
	for _, path := range paths {
		records, err := Read(path)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		rows, err := Rows(records)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		p, err := results.Prepare(results.Run{Name: path, Rows: rows})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		out := filepath.Join(t.TempDir(), "r.csv.gz")
		if err := results.Write(out, rows); err != nil {
			t.Fatal(err)
		}
		again, err := results.Read(out)
		if err != nil || len(again) != len(rows) {
			t.Errorf("%s: %d rows, %v", path, len(again), err)
			continue
		}
		n := 0
		for _, c := range p.Cells {
			if c.Has("accuracy") || c.Has("pp") {
				n++
			}
		}
		t.Logf("%s: %d records, %d rows, %d cells, %d with accuracy or PP, %v", path, len(records), len(rows), len(p.Cells), n, p.Warnings)
		type id struct {
			results.Group
			repetition  int
			fingerprint string
		}
		cells := map[id]results.Cell{}
		for _, c := range p.Cells {
			c.Dataset, _, _ = strings.Cut(c.Dataset, " (")
			cells[id{c.Group(), c.Repetition, c.DatasetFingerprint}] = c
		}
		for _, r := range records {
			if r.Quantity != "" {
				continue
			}
			row := r.row()
			if r.IsBaseline() {
				row.Setting = ""
			}
			c, ok := cells[id{row.Group(), row.Repetition, row.DatasetFingerprint}]
			if !ok {
				t.Fatalf("%s: %+v: no cell", path, row.Place)
			}
			for name, want := range map[string]results.Float{"accuracy": r.Accuracy, "n_w": r.Nw, "pp": r.PP,
				"puc_50": r.PUC50, "e_m_map": r.EMMap, "cs": r.CS, "s_w": r.Sw, "low": r.Low} {
				if got := c.Get(name); got.Known() != want.Known() && want.Known() || math.Abs(float64(got-want)) > 1e-9 {
					t.Fatalf("%s %s: %v, want %v", r.Key, name, got, want)
				}
			}
		}
	}
}
