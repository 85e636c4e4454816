package plots

import (
	"os"
	"testing"

	_ "mldpbench/experiments/measure" // names of attackers' quantities
	"mldpbench/internal/records"
	"mldpbench/results"
)

// reference returns the stored results of a study.
func reference(t testing.TB, name string) *results.Prepared { return records.View(t, name) }

// TestRedraw writes the figures that the pages of results show to the folder
// MLDP_REDRAW. Wide ones have large letters: a phone shows the pages 390 pixels wide.
func TestRedraw(t *testing.T) {
	dir := os.Getenv("MLDP_REDRAW")
	if dir == "" {
		t.Skip("set MLDP_REDRAW to a folder to draw the figures of the pages again")
	}
	for _, f := range []struct{ study, view, name, as string }{
		{"extended", "frontier", "frontier", "extended-frontier"},
		{"attacks", "attacks", "attacks-ag-news-with-agency", "attacks-agnews-agency"},
	} {
		figures, _ := drawn(reference(t, f.study), f.view)
		found := false
		for _, g := range figures {
			if g.Name == f.name || len(figures) == 1 {
				found = true
				g = g.In(Theme{Width: PageWidth, FontSize: 9})
				g.Name = f.as
				if _, err := Save(dir, []Figure{g}, []string{"svg", "png"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !found {
			t.Errorf("%s has no figure %s", f.study, f.name)
		}
	}
}
