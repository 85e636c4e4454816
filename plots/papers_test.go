package plots

import (
	"math"
	"slices"
	"strings"
	"testing"

	"mldpbench/results"
)

// paperPoints are invented: two panels, two curves with three repetitions, a
// level, a variant without a guarantee.
func paperPoints() []results.Record {
	var points []results.Record
	for _, panel := range []string{"a", "b"} {
		for i, series := range []string{"one", "two"} {
			for _, x := range []float64{1, 10, 100} {
				for rep := range 3 {
					base := results.Record{
						Panel: panel, Series: series, XName: "epsilon", X: results.Float(x), Repetition: rep,
						Generated: true,
						Mechanism: "cmp", GuaranteeMetric: "euclidean",
					}
					if i == 1 {
						base.Mechanism, base.GuaranteeMetric, base.GuaranteeReason = "vickrey", "", "because"
					}
					for quantity, v := range map[string]float64{"e_m_map": 1 / x, "loss": 1 / (x + 1),
						"n_w": 100 - 100/x} {
						base.Quantity, base.Value = quantity, results.Float(v+0.01*float64(rep))
						points = append(points, base)
					}
				}
			}
		}
		points = append(points, results.Record{Panel: panel, Series: "plain", XName: "epsilon", X: results.Missing,
			Quantity: "loss", Value: 0.1, Mechanism: "none", Generated: true})
	}
	return points
}

func TestPapersDrawsEveryQuantity(t *testing.T) {
	figures, skipped := Papers(paperPoints())
	names := map[string]Figure{}
	for _, f := range figures {
		names[f.Name] = f
	}
	for _, want := range []string{"e-m-map", "e-m-against-loss", "loss", "n-w", "n-w-histogram"} {
		f, ok := names[want]
		if !ok {
			t.Errorf("no figure %s; skipped %v", want, skipped)
			continue
		}
		svg, err := f.Render("svg")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(svg), "generated data") {
			t.Errorf("%s does not say that the data are generated", want)
		}
	}
	if len(figures) != 5 || len(skipped) != 0 {
		t.Errorf("%d figures, skipped %v", len(figures), skipped)
	}
}

func TestPapersCurves(t *testing.T) {
	points := paperPoints()
	curves, levels := pointCurves("a", "loss", points)
	if len(curves) != 2 || len(levels) != 1 || levels[0].Label != "plain" || levels[0].Y != 0.1 {
		t.Fatalf("%+v, %+v", curves, levels)
	}
	if c := curves[1]; !c.Style.Hollow || !strings.HasSuffix(c.Label, "†") || curves[0].Style.Hollow {
		t.Errorf("the variant without a guarantee is not marked: %+v", curves)
	}
	if y := curves[0].Points[0].Y; math.Abs(y-0.51) > 1e-12 {
		t.Errorf("mean of 0.50, 0.51, 0.52 is %v", y)
	}
}

func TestPapersSkipsWhatCannotBeDrawn(t *testing.T) {
	figures, skipped := Papers([]results.Record{{Panel: "a", Series: "s", Quantity: "e_m_map", X: results.Missing,
		Value: results.Missing}})
	if len(figures) != 0 || len(skipped) == 0 {
		t.Errorf("%d figures, skipped %v", len(figures), skipped)
	}
}

// TestPapersByDataset: panels with one value of x share one panel, those over β
// are a figure per embedding.
func TestPapersByDataset(t *testing.T) {
	var points []results.Record
	for _, name := range []string{"a", "b"} {
		for i, beta := range []float64{0.5, 0.9} {
			for _, epsilon := range []string{"1", "2"} {
				p := results.Record{Panel: name + ", ε = " + epsilon, Series: "M2", XName: "beta",
					X: results.Float(beta), Quantity: "auc", Value: 0.7, Embedding: name}
				points = append(points, p)
				if i == 0 {
					p.Panel, p.Quantity, p.Series = name+" once, ε = 1", "accuracy", "M1"
					points = append(points, p)
				}
			}
		}
	}
	figures, skipped := Papers(points)
	var got []string
	for _, f := range figures {
		got = append(got, f.Name+": "+f.Title)
	}
	want := []string{"auc-a-0d: AUC, a", "accuracy-by-panel: Accuracy in %, ε = 1, β = 0.5", "auc-b-0d: AUC, b"}
	if !slices.Equal(got, want) || len(skipped) > 0 {
		t.Fatalf("%q, skipped %v, want %q", got, skipped, want)
	}
	if want := "M1: 0.7 at a once, 0.7 at b once."; !strings.HasSuffix(figures[1].Description, want) {
		t.Errorf("%q does not end in %q", figures[1].Description, want)
	}
}
