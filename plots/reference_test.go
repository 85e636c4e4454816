package plots

import (
	"cmp"
	"os"
	"strconv"
	"strings"
	"testing"

	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// reference returns the stored results of a study, or the summary of a paper's.
func reference(t testing.TB, name string) *results.Prepared {
	t.Helper()
	summary, ok := strings.CutSuffix(name, ".csv")
	if !ok {
		return records.View(t, name)
	}
	file, err := os.Open("../results/reference/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := results.ReadCSV(name, file)
	if err != nil {
		t.Fatal(err)
	}
	var list []tables.Summary
	if err := table.Unmarshal(&list); err != nil {
		t.Fatal(err)
	}
	var rows []results.Row
	for i, s := range list {
		r := results.NewRow()
		r.Study, r.Index, r.Key, r.Quantity = summary, i, strconv.Itoa(i), s.Quantity
		r.Value, r.Low, r.High = s.Mean, s.Low, s.High
		r.Panel, r.Series, r.XName, r.X, r.Dataset, r.Embedding, r.Dimension = s.Panel, s.Series, s.XName, s.X,
			s.Dataset, s.Embedding, s.Dimension
		r.Mechanism, r.Parameters = cmp.Or(s.Mechanism, results.BaselineMechanism), s.Parameters
		if r.IsBaseline() && s.Mechanism == "" {
			r.Mechanism = ""
		}
		rows = append(rows, r)
	}
	p, err := results.Prepare(results.Run{Name: name, Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRedraw writes the figures that the pages of results show to the folder
// MLDP_REDRAW. Those of the papers are drawn from summaries. Wide ones have large
// letters and two panels in a row: a phone shows the pages 390 pixels wide.
func TestRedraw(t *testing.T) {
	dir := os.Getenv("MLDP_REDRAW")
	if dir == "" {
		t.Skip("set MLDP_REDRAW to a folder to draw the figures of the pages again")
	}
	wide := Theme{Width: PageWidth, FontSize: 12}
	for _, f := range []struct {
		study, kind, name, as string
		theme                 Theme
	}{
		{"extended", "frontier", "frontier-d100", "extended-frontier", wide},
		{"attacks", "attacks", "attacks-agnews-agency-d100-svm", "attacks-agnews-agency", wide},
		{"cmp.csv", "papers", "n-w", "cmp-nw", Theme{}},
		{"cmp.csv", "papers", "accuracy", "cmp-utility", Theme{}},
		{"tem.csv", "papers", "accuracy", "tem-accuracy", Theme{}},
		{"privemb.csv", "papers", "distance-error-local-300d", "privemb-distance-error", Theme{}},
		{"vickrey.csv", "papers", "e-m-against-loss", "vickrey-error-against-loss", Theme{}},
	} {
		p := reference(t, f.study)
		if f.study == "vickrey.csv" { // the other data sets are not those of the claim
			p = p.Select(func(c results.Cell) bool { return c.Dataset == "product-reviews" })
		}
		drawn, _ := All(p, f.kind)
		found := false
		var names []string
		for _, g := range drawn {
			names = append(names, g.Name)
			if g.Name == f.name {
				found = true
				g = g.In(f.theme)
				g.Name = f.as
				if _, err := Save(dir, []Figure{g}, []string{"svg", "png"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !found {
			t.Errorf("%s has no figure %s: %q", f.study, f.name, names)
		}
	}
}
