package published

import (
	"strings"
	"testing"

	"mldpbench/metrics"
	"mldpbench/results"
)

// ofItsCode are made-up cells of the study replication: CMP at ε = 10 on AG News,
// where N_w 60.2, S_w 37.2, PP 35.3, LOW 25.1 and accuracy 84.26 are printed.
func ofItsCode() []cell {
	var cells []cell
	for i, unchanged := range []int{590, 600, 610, 620} {
		r := results.NewRow()
		r.Study, r.Seed, r.Index, r.Repetition, r.Key = "replication", 1, 0, i+1, "text"
		r.Dataset, r.Embedding, r.Dimension, r.TestItems = "agnews-2024", "glove.6B.words", 100, 4000
		r.Mechanism, r.Variant, r.Epsilon, r.Policy = "cmp", "as-run", 10, "keep"
		nw, sw := results.Deniability([]metrics.Deniability[string]{{Word: "good", Runs: 1000, Unchanged: unchanged,
			Distinct: 38}})
		cells = append(cells, cell{r, map[string]results.Measured{"n_w": nw, "s_w": sw}})
		if r.Setting, r.Key = "train-only", "pp"; i == 0 {
			cells = append(cells, cell{r, map[string]results.Measured{"pp": results.Share(353, 1000),
				"low_overlap": results.Share(280, 1000)}})
		}
		if r.Model, r.Key = "lstm-2024", "accuracy"; i < 2 {
			cells = append(cells, cell{r, map[string]results.Measured{"accuracy": results.Share(3300+i*50, 4000)}})
		}
	}
	return cells
}

func replicated(t *testing.T, cells []cell) map[Metric]Replicated {
	t.Helper()
	all := Replicate(prepare(t, cells))
	if len(all) != 256 {
		t.Fatalf("%d printed numbers, want 256", len(all))
	}
	found := map[Metric]Replicated{}
	for _, k := range all {
		switch {
		case k.Place == Place{"agnews", 100, 10, "cmp"}:
			found[k.Metric] = k
		case k.Verdict != NotRun:
			t.Errorf("%+v was not measured", k)
		}
	}
	return found
}

func TestReplicate(t *testing.T) {
	got := replicated(t, ofItsCode())
	for m, want := range map[Metric]Replicated{
		"n_w":      {Here: 60.5, N: 4, Verdict: Near},   // SD 1.29
		"s_w":      {Here: 37, N: 4, Verdict: Apart},    // no spread
		"pp":       {Here: 35.3, N: 1, Verdict: Same},   // one text
		"low":      {Here: 28, N: 1, Verdict: Apart},    // 2.9 points
		"accuracy": {Here: 83.125, N: 2, Verdict: Near}, // 1.1 points
		"english":  {N: 0, Verdict: NotRun},             // not measured
	} {
		k := got[m]
		if k.N != want.N || k.Verdict != want.Verdict || (k.Cause != "") != (want.Verdict == Apart) {
			t.Errorf("%s: %+v, want %d measurements, %s", m, k, want.N, want.Verdict)
		}
		if want.N > 0 {
			near(t, m, k.Here, want.Here, 1e-9)
		}
	}
	text := ""
	for _, table := range ReplicationTables(prepare(t, ofItsCode())) {
		text += strings.Join(strings.Fields(render(t, table, "md")), " ") + "\n"
	}
	for _, want := range []string{
		"| CMP | 10 | 60.5/60.2 ≈ | 37.0/37.2 ≠ | 35.3/35.3 = | 28.0/25.1 ≠ | not run/69.74 | 83.12/84.26 ≈ |",
		"| AG News | LOW | 21 | 0 | 0 | 1 | 20 |", "| S_w, LOW: open |",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if s := Sentence(prepare(t, ofItsCode())); !strings.Contains(s, "Of 256 printed numbers 1 come out as printed and 2 "+
		"near them, 2 do not; 251 were not run") {
		t.Error(s)
	}
}

// Other vectors, a sample and other variants are no replication.
func TestReplicateRefusesTheIncomparable(t *testing.T) {
	for name, change := range map[string]func(*cell){
		"vectors": func(c *cell) { c.Embedding = "local" }, "sample": func(c *cell) { c.TestItems = 200 },
		"variant": func(c *cell) { c.Variant = "proved" }, "texts": func(c *cell) { c.Dataset = "agnews" },
	} {
		cells := ofItsCode()
		for i := range cells {
			change(&cells[i])
		}
		for m, k := range replicated(t, cells) {
			if k.Verdict != NotRun {
				t.Errorf("%s: %s: %+v", name, m, k)
			}
		}
		if len(ReplicationTables(prepare(t, cells))) > 0 {
			t.Errorf("%s: tables", name)
		}
	}
}

// The mechanisms as described stand beside the same printed numbers, where as many
// documents were tested with an LSTM and GloVe 6B, and nothing else does.
func TestDescribed(t *testing.T) {
	cells := func(change func(*cell)) (out []cell) {
		for i := range 5 {
			c := mechanismCell(i, i+1, 1577+4*(i-2)) // 78.85 is printed
			c.Epsilon = 10
			change(&c)
			out = append(out, c)
		}
		return out
	}
	made := map[string]string{}
	for name, change := range map[string]func(*cell){
		"it": func(*cell) {}, "embedding": func(c *cell) { c.Embedding = "local" },
		"model": func(c *cell) { c.Model = "svm" }, "sample": func(c *cell) { c.TestItems = 1000 },
		"data": func(c *cell) { c.Dataset = "generated-reviews" }, "variant": func(c *cell) { c.Variant = "released" },
		"undefined": func(c *cell) { c.Status, c.Reason = results.StatusUndefined, "small" },
	} {
		for _, table := range Tables(prepare(t, cells(change))) {
			made[name] += strings.Join(strings.Fields(render(t, table, "md")), " ")
		}
	}
	const row = "| CMP | 10 | 20.0/52.2 ≠ | 19.0/46.0 ≠ | 70.0/47.1 ≠ | not run/48.0 | not run/78.85 | 78.85/78.85 = |"
	if !strings.Contains(made["it"], row) {
		t.Errorf("no %q in %s", row, made["it"])
	}
	if !strings.Contains(made["undefined"], "undefined/78.85") {
		t.Errorf("undefined: %s", made["undefined"])
	}
	for _, name := range []string{"embedding", "model", "sample", "data", "variant"} {
		if made[name] != "" {
			t.Errorf("%s: %s", name, made[name])
		}
	}
}
