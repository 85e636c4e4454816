package plots

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mldpbench/results"
)

// heightsOf returns the distinct heights of matching texts in a drawing, top
// down.
func heightsOf(t *testing.T, f Figure, text string) []float64 {
	t.Helper()
	svg, err := f.Render("svg")
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for _, m := range regexp.MustCompile(`<text x="[-0-9.]+" y="([-0-9.]+)"[^>]*>`+text+`<`).FindAllSubmatch(svg, -1) {
		y, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(out, y) {
			out = append(out, y)
		}
	}
	slices.Sort(out)
	return out
}

// The numbers in words are those that the axis shows, not their logarithms.
func TestDeniabilityInWordsTellsRatios(t *testing.T) {
	records := syntheticRecords(1)
	for i := range records {
		if !records[i].IsBaseline() {
			records[i].Nw, records[i].Sw = 20, 40
		}
	}
	figures, err := deniabilityFigures(newStudy(records))
	if err != nil {
		t.Fatal(err)
	}
	if d := figures[0].Description; !strings.Contains(d, " 0.5 at 1") || strings.Contains(d, "−0.3") {
		t.Errorf("20 : 40 is told as %s", d)
	}
}

// Rows of a heat map of two mechanisms are as high as those of many.
func TestHeatMapOfTwoRowsIsLegible(t *testing.T) {
	f, err := HeatMap("two", "Two rows", "MAP adversary’s error E_M", []Grid{{
		Title: "accuracy in %", Rows: []string{"first", "second"}, Columns: []string{"0.2", "0.4"},
		Groups: []Group{{"set", 2}}, Values: [][]float64{{1, 2}, {3, 4}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	y := append(heightsOf(t, f, "first"), heightsOf(t, f, "second")...)
	if len(y) != 2 || !(y[1]-y[0] >= float64(heatRow)) && !(y[0]-y[1] >= float64(heatRow)) {
		t.Errorf("rows stand at %v: less than %v points apart", y, heatRow)
	}
}

// A mechanism that was not run at an ε has no empty place for it.
func TestBarsOfMissingEpsilons(t *testing.T) {
	records := slices.DeleteFunc(syntheticRecords(1), func(r results.Record) bool {
		return r.Dimension != 50 || r.Dataset != "generated-topics" ||
			!slices.Contains([]string{"none", "cmp", "tem", "santext"}, r.Mechanism) || r.Mechanism == "tem" &&
			r.Epsilon != 5
	})
	figures, err := pucFigures(newStudy(records))
	if err != nil {
		t.Fatal(err)
	}
	cmp, tem, santext := heightsOf(t, figures[0], "CMP"), heightsOf(t, figures[0], "TEM"),
		heightsOf(t, figures[0], "SanText")
	if len(cmp) != 1 || len(tem) != 1 || len(santext) != 1 {
		t.Fatalf("names at %v, %v, %v", cmp, tem, santext)
	}
	// Middle to middle: half of three bars, half of one, and a gap between.
	if step, most := tem[0]-cmp[0], float64(barThick)*(1.5+0.5+barGap)*1.25; step > most || step <= 0 {
		t.Errorf("one bar of TEM stands %v points below CMP, want at most %v", step, most)
	}
}

// Two runs with different seeds measured the same cells: they are two samples,
// not one of twice the size.
func TestSeedsAreNotPooled(t *testing.T) {
	keep := func(r results.Record) bool { return r.Dimension != 50 || r.Dataset != "generated-topics" }
	first, second := slices.DeleteFunc(syntheticRecords(3), keep), slices.DeleteFunc(syntheticRecords(3), keep)
	for i := range first {
		first[i].Seed, first[i].DatasetFingerprint = 1, "a"
		second[i].Seed, second[i].DatasetFingerprint = 2, "b"
		second[i].Accuracy -= 20
	}
	figures, _ := All(append(first, second...))
	for _, f := range figures {
		if !strings.HasPrefix(f.Name, "accuracy") {
			continue
		}
		for _, want := range []string{"seed 1:", "seed 2:"} {
			if !strings.Contains(f.Description, want) {
				t.Errorf("no panel of %s in %s", want, f.Description)
			}
		}
		if !strings.Contains(f.Caption, "only 3 repetitions") {
			t.Errorf("caption %q", f.Caption)
		}
		return
	}
	t.Fatal("no figure of accuracy")
}

// A legend of bars is below the axis, not among the bars where it would look
// like one of them; its ε are in order, whatever the order of the records.
func TestLegendOfBars(t *testing.T) {
	shuffled := []float64{2, 2.5, 3, 3.5, 1, 5, 10}
	var records []results.Record
	for i, r := range syntheticRecords(1) {
		if r.Dimension != 50 || r.Mechanism == "none" || r.Epsilon != 1 {
			continue
		}
		for _, e := range shuffled {
			r.Epsilon = results.Float(e)
			r.PUC75, r.PUC50, r.PUC25 = 40, results.Float(50+i%7), 60
			records = append(records, r)
		}
	}
	// Three data sets in two columns leave a free place beside bars.
	figures, err := pucFigures(newStudy(records))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		axis := heightsOf(t, f, "PUC")
		last := axis[len(axis)-1]
		labels := regexp.MustCompile(`data-series="ε = ([0-9.]+)">`).FindAllStringSubmatch(render(t, f), -1)
		var order []string
		for _, m := range labels {
			order = append(order, m[1])
			if y := heightsOf(t, f, "ε = "+regexp.QuoteMeta(m[1])); len(y) != 1 || y[0] <= last {
				t.Errorf("%s: ε = %s of the legend stands at %v, the axis of the bars at %v", f.Name, m[1], y, last)
			}
		}
		if got := strings.Join(order, " "); !strings.HasSuffix(got, "1 2 2.5 3 3.5 5 10") {
			t.Errorf("%s: legend %s", f.Name, got)
		}
	}
}

// In the figure, too, the throughput of a mechanism with tables includes making
// them: it does not grow with the repetitions that share a table.
func TestThroughputFigureDoesNotGrowWithRepetitions(t *testing.T) {
	says := func(repetitions int) string {
		records := slices.DeleteFunc(syntheticRecords(repetitions), func(r results.Record) bool {
			return r.Mechanism != "santext" || r.Dimension != 50 || r.Dataset != "generated-topics"
		})
		for i := range records {
			took := 10.0 / float64(repetitions) // 10 s for the tables of all
			records[i].PrivatizeSeconds, records[i].WordsPerSecond, records[i].PrivatizeTexts = results.Float(took),
				results.Float(1e5/took), repetitions
		}
		figures, err := throughputFigures(newStudy(records))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(figures[0].Caption, "making a mechanism's tables per word") {
			t.Errorf("the figure does not say what it measures: %q", figures[0].Caption)
		}
		return figures[0].Description
	}
	one, five := says(1), says(5)
	if one != five || !strings.Contains(one, " 10k") {
		t.Errorf("once: %s\nfive times: %s", one, five)
	}
}
