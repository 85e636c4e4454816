package submit

import (
	"testing"

	"mldpbench/experiments/task"
	"mldpbench/results"
)

// entry is a package with one release and what its strongest attacker found.
func entry(t *testing.T, name, state, key, quantity string, found, half float64) *Entry {
	t.Helper()
	of, _, err := task.Open("generated-styles")
	if err != nil {
		t.Fatal(err)
	}
	r := results.NewRow()
	r.Key, r.Mechanism, r.Variant, r.Repetition, r.Status = key, "mine", "external", 1, results.StatusOK
	r = r.Of(quantity, results.Number(found).Within(found-half, found+half))
	c := &Checked{Package: &Package{Task: of.Ref(task.Lite), Kind: Submission}, Card: &Card{System: name}, Of: of}
	c.Run.Rows = []results.Row{r}
	return &Entry{Checked: c, Name: name, State: state}
}

// TestStates checks who owns a text, when somebody's attack counts, and that what
// nobody computed again takes nothing from others.
func TestStates(t *testing.T) {
	const privacy = "strongest-label"
	for _, c := range []struct {
		name  string
		other *Entry
		want  string
	}{
		{"a stronger attacker on the same text", entry(t, "other", Recomputed, "text", privacy, 0.9, 0.05), Attacked},
		{"stronger within the interval", entry(t, "other", Recomputed, "text", privacy, 0.65, 0.05), Recomputed},
		{"weaker", entry(t, "other", Recomputed, "text", privacy, 0.4, 0.05), Recomputed},
		{"not computed again", entry(t, "other", Claimed, "text", privacy, 0.9, 0.05), Recomputed},
		{"another text of that name", entry(t, "other", Recomputed, "another", privacy, 0.9, 0.05), Recomputed},
	} {
		first := entry(t, "first", Recomputed, "text", privacy, 0.6, 0.05)
		all := []*Entry{first, c.other}
		own(all)
		for _, e := range all {
			e.judge(all)
		}
		if first.State != c.want || (c.other.State == Attacked) != (c.name == "weaker") {
			t.Errorf("%s: %s (%s), want %s; the other is %s", c.name, first.State, first.Why, c.want, c.other.State)
		}
		rows := Join(all).Rows
		if c.want == Attacked && (len(rows) != 1 || rows[0].Value != 0.9 || rows[0].Mechanism != "first: mine") {
			t.Errorf("%s: joined %+v", c.name, rows)
		}
		if c.other.Rows[0].Key == "another" && len(rows) != 2 {
			t.Errorf("%s: %d rows", c.name, len(rows))
		}
	}
}

// TestRefuted checks that an audit in a recomputed package refutes every package
// with that promise on those vectors, and in no other.
func TestRefuted(t *testing.T) {
	for _, c := range []struct {
		state, vectors, want string
	}{{Recomputed, "v", Refuted}, {Claimed, "v", Recomputed}, {Recomputed, "w", Recomputed}} {
		first := entry(t, "first", Recomputed, "a", "accuracy", 80, 1)
		auditor := entry(t, "auditor", c.state, "b", "accuracy", 80, 1)
		r := &first.Run.Rows[0]
		r.Mechanism, r.Variant, r.GuaranteeMetric, r.EmbeddingFingerprint = "cmp", "proved", "euclidean", "v"
		auditor.Run.Audit = []results.AuditRow{{Mechanism: "cmp", Variant: "proved", Promises: true, Violated: true,
			EmbeddingFingerprint: c.vectors}}
		all := []*Entry{first, auditor}
		own(all)
		first.judge(all)
		if first.State != c.want {
			t.Errorf("%+v: %s (%s)", c, first.State, first.Why)
		}
	}
}
