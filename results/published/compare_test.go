package published

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"mldpbench/results"
)

// publishedAs makes cells with exactly the numbers that the paper prints for CMP
// on IMDb at d=100, shifted by some points.
func publishedAs(shift float64) []cell {
	var cells []cell
	at := Place{"imdb", 100, 10, "cmp"}
	for i := range 5 {
		jitter := []float64{-0.4, -0.2, 0, 0.2, 0.4}[i]
		c := mechanismCell(i, i+1, int(math.Round(20*(78.85+shift+jitter))))
		c.Epsilon = 10
		cs := results.Number(Printed().Value(at, "cs"))
		cs.Detail = "paraphrase-distilroberta-base-v1"
		c.values = map[string]results.Measured{"accuracy": c.values["accuracy"], "cs": cs,
			"pp": results.Share(int(math.Round(100*(Printed().Value(at, "pp")+shift+jitter))), 10000)}
		cells = append(cells, c)
	}
	return cells
}

func compared(t *testing.T, cells []cell) map[Metric]Comparison {
	t.Helper()
	all := Compare(prepare(t, cells), DefaultMargin)
	byMetric := map[Metric]Comparison{}
	for _, k := range all {
		byMetric[k.Metric] = k
	}
	return byMetric
}

func TestCompareClasses(t *testing.T) {
	same := compared(t, publishedAs(0))
	for _, m := range []Metric{"accuracy", "pp", "cs"} {
		if k := same[m]; k.Class != Agrees {
			t.Errorf("%s: %+v, want agrees", m, k)
		}
	}
	other := compared(t, publishedAs(-3))
	for _, m := range []Metric{"accuracy", "pp"} {
		if k := other[m]; k.Class != Differs || k.Cause == "" || math.Abs(k.Difference+3) > 0.2 {
			t.Errorf("%s: %+v, want differs by 3 with a cause", m, k)
		}
	}
	if _, measured := same["n_w"]; measured {
		t.Error("what was not measured must not be compared")
	}
}

func TestCompareRefusesTheIncomparable(t *testing.T) {
	for want, change := range map[string]func(*cell){
		"embedding local":       func(c *cell) { c.Embedding = "local" },
		"model svm":             func(c *cell) { c.Model = "svm" },
		"1000 test documents":   func(c *cell) { c.TestItems = 1000 },
		"undefined here: small": func(c *cell) { c.Status, c.Reason = results.StatusUndefined, "small" },
	} {
		cells := publishedAs(0)
		for i := range cells {
			change(&cells[i])
		}
		if k := compared(t, cells)["accuracy"]; k.Class != NotComparable || !strings.Contains(k.Cause, want) {
			t.Errorf("%s: %+v", want, k)
		}
	}
	cells := publishedAs(0)
	for i := range cells {
		cs := cells[i].values["cs"]
		cs.Detail = "use-lite"
		cells[i].values["cs"] = cs
	}
	got := compared(t, cells)
	if got["cs"].Class != NotComparable || got["accuracy"].Class != Agrees {
		t.Errorf("another encoder: %+v", got)
	}
	for i := range cells {
		cells[i].Dataset = "generated-reviews"
	}
	if all := Compare(prepare(t, cells), 1); len(all) != 0 {
		t.Errorf("a data set the study does not have: %v", all)
	}
}

func TestCompareTables(t *testing.T) {
	all := Compare(prepare(t, publishedAs(-3)), DefaultMargin)
	md := render(t, compareTable(all), "md")
	if !strings.Contains(md, "differs") || !strings.Contains(md, "78.85") {
		t.Errorf("table:\n%s", md)
	}
	if md := render(t, compareSummary(all), "md"); !strings.Contains(md, "accuracy") {
		t.Errorf("summary:\n%s", md)
	}
}

// Rows of two classifiers, two embeddings and two variants in one file: each
// published number is judged by the record of what the paper measured.
func TestCompareOfMixedRecords(t *testing.T) {
	cells := publishedAs(0)
	add := func(change func(*cell)) {
		for _, c := range publishedAs(0) {
			change(&c)
			c.Key += fmt.Sprint(len(cells))
			cells = append(cells, c)
		}
	}
	add(func(c *cell) { c.Model = "svm" })
	add(func(c *cell) { c.Embedding = "local" })
	vickrey := func(variant string, correct int) func(*cell) {
		return func(c *cell) {
			c.Mechanism, c.Variant = "vickrey", variant
			c.values = map[string]results.Measured{"accuracy": results.Share(correct, 2000)}
		}
	}
	published := Printed().Value(Place{"imdb", 100, 10, "vickrey"}, "accuracy")
	add(vickrey("proved", int(20*published)))       // agrees, and proves nothing
	add(vickrey("released", int(20*published-200))) // what the paper ran: differs by 10 points
	all := Compare(prepare(t, cells), DefaultMargin)
	changed := 0
	for _, k := range all {
		if k.Metric == "pp" && k.Place.Mechanism == "cmp" && k.Embedding == "glove.6B" {
			changed++
		}
		if k.Embedding == "local" && k.Class != NotComparable {
			t.Errorf("local vectors were compared: %+v", k)
		}
	}
	if changed != 1 {
		t.Errorf("text of two classifiers is compared %d times, want once", changed)
	}
	md := strings.Join(strings.Fields(render(t, compareSummary(all), "md")), " ")
	for _, want := range []string{"| accuracy | 1 | 1 | 2 |", "| pp | 1 | 0 | 1 |"} {
		if !strings.Contains(md, want) {
			t.Errorf("no %q in %s", want, md)
		}
	}
}
