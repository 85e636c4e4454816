package published

import (
	"math"
	"strings"
	"testing"

	"mldpbench/metrics"
	"mldpbench/results"
	"mldpbench/results/tables"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

func render(t *testing.T, table tables.Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cell is a made-up cell: one repetition of one mechanism with its quantities.
type cell struct {
	results.Row
	values map[string]results.Measured
}

// baselineCell is made up.
func baselineCell(index, repetition, correct int) cell {
	r := results.NewRow()
	r.Study, r.Seed = "test", 1
	r.Index, r.Repetition, r.Key = index, repetition, string(rune('a'+index))
	r.Dataset, r.Embedding, r.Dimension, r.Model, r.Setting = "imdb", "glove.6B", 100, "lstm", "local"
	r.Mechanism, r.TestItems = results.BaselineMechanism, 2000
	return cell{r, map[string]results.Measured{"accuracy": results.Share(correct, 2000)}}
}

func mechanismCell(index, repetition, correct int) cell {
	c := baselineCell(index, repetition, correct)
	c.Mechanism, c.Variant, c.Epsilon, c.Policy = "cmp", "proved", 5, "keep"
	nw, sw := results.Deniability([]metrics.Deniability[string]{{Word: "good", Runs: 50, Unchanged: 10, Distinct: 20}})
	c.values["pp"], c.values["low"], c.values["n_w"], c.values["s_w"] = results.Share(70, 100),
		results.Share(300, 1000), nw, sw
	cs := results.Number(50)
	cs.Whole, cs.Detail = 300, "test"
	c.values["cs"] = cs
	return c
}

// prepare makes the view of made-up cells.
func prepare(t *testing.T, cells []cell) *results.Prepared {
	t.Helper()
	var rows []results.Row
	for _, c := range cells {
		if c.Status == results.StatusUndefined {
			rows = append(rows, c.Row)
			continue
		}
		for _, q := range results.Columns() {
			if m, ok := c.values[q.Name]; ok {
				rows = append(rows, c.Of(q.Name, m))
			}
		}
	}
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
