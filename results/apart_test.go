package results

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shownBy lists what a reader sees of joined runs: where, which mechanism, which numbers.
func shownBy(t *testing.T, quantity string, runs ...Run) []string {
	t.Helper()
	p := prepared(t, runs...)
	var shown []string
	for _, g := range GroupCells(p.Private()) {
		values := slices.Sorted(slices.Values(g.Values(quantity)))
		shown = append(shown, fmt.Sprintf("%s | %s | %s | %v", DatasetTitle(g.Dataset), p.SpaceName(g.Place),
			p.Name(g.Place), values))
	}
	slices.Sort(shown)
	return append(shown, p.Warnings...)
}

// inEveryOrder is shownBy, which must be the same in every order of the runs.
func inEveryOrder(t *testing.T, quantity string, runs ...Run) []string {
	t.Helper()
	first := shownBy(t, quantity, runs...)
	for i := range runs {
		for j := range i {
			other := slices.Clone(runs)
			other[i], other[j] = other[j], other[i]
			if again := shownBy(t, quantity, other...); !slices.Equal(again, first) {
				t.Errorf("runs %d and %d in another order show\n%s\nwant\n%s", j+1, i+1, strings.Join(again, "\n"),
					strings.Join(first, "\n"))
			}
		}
	}
	return first
}

// What two runs give one name, though its fingerprints differ, is never averaged,
// in whatever order they are named, and what differs is said.
func TestOtherThingsOfOneNameAreToldApart(t *testing.T) {
	for _, c := range []struct {
		what, quantity string
		change         func(*Row)
		want           []string // of what is shown, in part
	}{
		{"documents", "accuracy", func(r *Row) { r.DatasetFingerprint = "cleaned" },
			[]string{"IMDb (of a) | glove.6B d=100 | CMP | [50]", "IMDb (of b) | glove.6B d=100 | CMP | [100]",
				"imdb (of b): not the data of the other rows called imdb"}},
		{"vectors", "accuracy", func(r *Row) { r.EmbeddingFingerprint = "longer" },
			[]string{"IMDb | glove.6B (of a) d=100 | CMP | [50]", "IMDb | glove.6B (of b) d=100 | CMP | [100]",
				"glove.6B (of b): not the vectors of the other rows called glove.6B"}},
		{"vectors of words alone", "accuracy", func(r *Row) { r.Dataset, r.EmbeddingFingerprint = "", "longer" }, nil},
		{"vectors of another study", "accuracy", func(r *Row) { r.Study, r.EmbeddingFingerprint = "other", "longer" },
			[]string{"glove.6B (of test) d=100 | CMP | [50]", "glove.6B (of other) d=100 | CMP | [100]"}},
		{"program", "accuracy", func(r *Row) { r.Program = "second" },
			[]string{"IMDb | glove.6B d=100 | CMP (of a) | [50]", "IMDb | glove.6B d=100 | CMP (of b) | [100]",
				"cmp (of b): not the program or text of the other rows called cmp"}},
		{"encoder", "accuracy", func(r *Row) { r.Resources = "encoder:two" },
			[]string{"IMDb (of a) | ", "IMDb (of b) | ", "imdb (of b): not the programs, models and lists of"}},
		{"options", "accuracy", func(*Row) {},
			[]string{"CMP | [50]", "CMP | [100]", "imdb (of b): not the numbers, measured in another way, of"}},
	} {
		before := made(1, 1, 10)
		before.Program, before.Resources = "first", "encoder:one"
		after := before.Of("accuracy", Share(20, 20))
		after.Key = "later"
		if c.what == "vectors of words alone" {
			before.Dataset, after.Dataset = "", ""
		}
		c.change(&after)
		a, b := Run{Name: "runs/a", Rows: []Row{before}}, Run{Name: "runs/b/results.csv.gz", Rows: []Row{after}}
		shown := strings.Join(inEveryOrder(t, c.quantity, a, b), "\n")
		if strings.Contains(shown, "[50 100]") {
			t.Errorf("other %s: averaged:\n%s", c.what, shown)
		}
		for _, want := range c.want {
			if !strings.Contains(shown, want) {
				t.Errorf("other %s: %q is not in\n%s", c.what, want, shown)
			}
		}
	}
}

// A run agrees with those of its data, and repetitions of one study on the same data are
// averaged, as rows without fingerprints are, which earlier versions wrote.
func TestTheSameThingsAreJoined(t *testing.T) {
	run := func(name, documents string, repetition, right int) Run {
		r := made(1, repetition, right)
		r.Key, r.DatasetFingerprint = name, documents
		first := made(1, 1, 10)
		first.Key, first.DatasetFingerprint = "first of "+documents, documents
		if repetition == 1 {
			return Run{Name: name, Rows: []Row{first}}
		}
		return Run{Name: name, Rows: []Row{first, r}}
	}
	shown := strings.Join(inEveryOrder(t, "accuracy", run("a", "old", 1, 10), run("b", "new", 2, 20),
		run("c", "old", 3, 18)), "\n")
	for _, want := range []string{"IMDb (of a and c) | glove.6B d=100 | CMP | [50 90]",
		"IMDb (of b) | glove.6B d=100 | CMP | [50 100]"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
	shown = strings.Join(inEveryOrder(t, "accuracy", run("a", "old", 1, 10), run("b", "old", 2, 20)), "\n")
	if want := "IMDb | glove.6B d=100 | CMP | [50 100]"; shown != want {
		t.Errorf("repetitions of two runs show %q, want %q", shown, want)
	}
	older := run("b", "old", 2, 20)
	for i := range older.Rows {
		older.Rows[i].DatasetFingerprint, older.Rows[i].EmbeddingFingerprint = "", ""
	}
	older.Rows = older.Rows[1:]
	shown = strings.Join(inEveryOrder(t, "accuracy", run("a", "old", 1, 10), older), "\n")
	if want := "IMDb | glove.6B d=100 | CMP | [50 100]"; shown != want {
		t.Errorf("with rows that have no fingerprints %q is shown, want %q", shown, want)
	}
}

// A run that agrees with two that differ is joined with neither.
func TestBetweenTwoThatDiffer(t *testing.T) {
	run := func(name string, repetitions map[int]string) Run {
		var rows []Row
		for repetition, documents := range repetitions {
			r := made(1, repetition, 10)
			r.Key, r.DatasetFingerprint = fmt.Sprint(documents, repetition), documents
			rows = append(rows, r)
		}
		return Run{Name: name, Rows: rows}
	}
	shown := strings.Join(inEveryOrder(t, "accuracy", run("a", map[int]string{1: "x", 2: "y"}),
		run("b", map[int]string{1: "x", 3: "z"}), run("c", map[int]string{1: "x", 2: "other", 3: "z"})), "\n")
	for _, want := range []string{"IMDb (of a)", "IMDb (of b)", "IMDb (of c)"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in\n%s", want, shown)
		}
	}
}

// Two runs of one folder name are called by their paths.
func TestRunsOfOneFolderName(t *testing.T) {
	a, b := made(1, 1, 10), made(1, 1, 20)
	b.Key, b.DatasetFingerprint = "later", "others"
	shown := strings.Join(inEveryOrder(t, "accuracy", Run{Name: "x/mini", Rows: []Row{a}},
		Run{Name: "y/mini", Rows: []Row{b}}), "\n")
	if !strings.Contains(shown, "IMDb (of x/mini)") || !strings.Contains(shown, "IMDb (of y/mini)") {
		t.Errorf("x/mini and y/mini are shown as\n%s", shown)
	}
}

// Two mechanisms with one label are both shown, and the same one under two labels.
func TestOneLabelOfTwoMechanisms(t *testing.T) {
	row := func(index int, mechanism, label string, right int) Row {
		r := made(index, 1, right)
		r.Mechanism, r.Label = mechanism, label
		return r
	}
	for _, c := range []struct {
		rows []Row
		want []string
	}{
		{[]Row{row(1, "cmp", "ours", 10), row(2, "k-rr", "ours", 20)}, []string{"ours, CMP | [50]", "ours, k-RR | [100]"}},
		{[]Row{row(1, "cmp", "", 10), row(2, "k-rr", "CMP", 20)}, []string{"| CMP | [50]", "CMP, k-RR | [100]"}},
		{[]Row{row(1, "cmp", "ours", 10), row(2, "mine", "ours", 20)}, []string{"ours, CMP | [50]", "ours, mine | [100]"}},
		{[]Row{row(1, "cmp", "one", 10), row(1, "cmp", "two", 10)}, []string{"one | [50]", "two | [50]"}},
	} {
		var runs []Run
		for i := range c.rows {
			runs = append(runs, Run{Name: fmt.Sprint(i), Rows: c.rows[i : i+1]})
		}
		shown := strings.Join(inEveryOrder(t, "accuracy", runs...), "\n")
		for _, want := range c.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%q is not in\n%s", want, shown)
			}
		}
	}
}

// Two runs of one study with other weights of PUC show neither's, in any order.
func TestOtherComposites(t *testing.T) {
	var runs []Run
	for i, weight := range []float64{1, 3} {
		a := made(i+2, i+1, 12)
		runs = append(runs, Run{Name: fmt.Sprint(i), Rows: []Row{baseline(0, 1, 16), a, text(a, "pp", Share(7, 10)),
			text(a, "cs", Number(30))}, PUC: &Composite{Utility: map[string]float64{"accuracy": 1, "cs": weight},
			Privacy: map[string]float64{"pp": 1}, Alphas: []float64{0.6}}})
	}
	shown := strings.Join(inEveryOrder(t, "puc_60", runs...), "\n")
	if !strings.Contains(shown, "test: its runs have different puc") || !strings.Contains(shown, "| []") {
		t.Errorf("runs of other puc show\n%s", shown)
	}
}
