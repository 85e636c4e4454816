package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// paperRows are invented: two panels, two curves with three repetitions, a
// level, a variant without a guarantee.
func paperRows() []results.Row {
	var rows []results.Row
	for _, panel := range []string{"a", "b"} {
		for i, series := range []string{"one", "two"} {
			for _, x := range []float64{1, 10, 100} {
				for rep := range 3 {
					r := results.NewRow()
					r.Key, r.Panel, r.Series, r.XName, r.X, r.Repetition = panel+series, panel, series, "epsilon",
						results.Float(x), rep
					r.Generated, r.Mechanism, r.GuaranteeMetric = true, "cmp", "euclidean"
					if i == 1 {
						r.Mechanism, r.GuaranteeMetric, r.GuaranteeReason = "vickrey", "", "because"
					}
					for _, q := range []struct {
						name string
						v    float64
					}{{"e_m_map", 1 / x}, {"loss", 1 / (x + 1)}, {"n_w", 100 - 100/x}} {
						rows = append(rows, r.Of(q.name, results.Number(q.v+0.01*float64(rep))))
					}
				}
			}
		}
		r := results.NewRow()
		r.Key, r.Panel, r.Series, r.XName, r.Mechanism, r.Generated = panel, panel, "plain", "epsilon", "none", true
		rows = append(rows, r.Of("loss", results.Number(0.1)))
	}
	return rows
}

func TestPapers(t *testing.T) {
	p := prepared(t, paperRows())
	figures, _ := All(p, "papers")
	var names []string
	for _, f := range figures {
		names = append(names, f.Name)
		if svg := f.Inline(); !strings.Contains(svg, "generated data") {
			t.Errorf("%s does not say that the data are generated", f.Name)
		}
	}
	slices.Sort(names)
	if want := []string{"e-m-against-loss", "e-m-map", "loss", "n-w"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	v := newView(p)
	curves, levels := v.seriesCurves("a", "", "loss", v.Cells)
	if len(curves) != 2 || len(levels) != 1 || levels[0].Label != "plain" || levels[0].Y != 0.1 {
		t.Fatalf("%+v, %+v", curves, levels)
	}
	if c := curves[1]; !c.Style.Hollow || !strings.HasSuffix(c.Label, results.UnprovedMark) || curves[0].Style.Hollow ||
		c.Style.Look != LookOf("vickrey") {
		t.Errorf("the variant without a guarantee is not marked, or not in its look: %+v", curves)
	}
	if y := curves[0].Points[0].Y; math.Abs(y-0.51) > 1e-12 {
		t.Errorf("mean of 0.50, 0.51, 0.52 is %v", y)
	}
}

// Panels with one value of x share one figure, those over β are a figure per
// embedding.
func TestPapersByDataset(t *testing.T) {
	var rows []results.Row
	for _, name := range []string{"a", "b"} {
		for i, beta := range []float64{0.5, 0.9} {
			for _, epsilon := range []string{"1", "2"} {
				r := results.NewRow()
				r.Panel, r.Series, r.XName, r.X, r.Embedding = name+", ε = "+epsilon, "M2", "beta", results.Float(beta), name
				r.Key = r.Panel
				rows = append(rows, r.Of("auc", results.Number(0.7)))
				if i == 0 && epsilon == "1" {
					r.Panel, r.Series = name+" once, ε = 1", "M1"
					rows = append(rows, r.Of("accuracy", results.Number(0.7)))
				}
			}
		}
	}
	figures, _ := All(prepared(t, rows), "papers")
	var got []string
	for _, f := range figures {
		got = append(got, f.Name+": "+f.Title)
	}
	want := []string{"auc-a-0d: AUC, a", "accuracy-by-panel: Accuracy in %, ε = 1", "auc-b-0d: AUC, b"}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// More instances than a panel names: the mechanism with most of them gets
// figures of its own.
func TestCrowdStandsApart(t *testing.T) {
	var cells []results.Cell
	add := func(mechanism, parameters string) {
		c := results.Cell{}
		c.Mechanism, c.Parameters = mechanism, parameters
		cells = append(cells, c)
	}
	add("a", "")
	add("b", "1")
	add("b", "2")
	add("c", "")
	if got := crowd(cells); got != "" {
		t.Errorf("%q stands apart from four", got)
	}
	for _, k := range []string{"3", "4", "5", "6", "7"} {
		add("c", k)
	}
	if got := crowd(cells); got != "c" {
		t.Errorf("%q stands apart", got)
	}
}
