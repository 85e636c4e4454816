package tables

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "mldpbench/experiments/measure" // names of attackers' quantities
	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/compare"
)

func render(t *testing.T, table Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func find(t *testing.T, all []Table, name string) Table {
	t.Helper()
	i := slices.IndexFunc(all, func(x Table) bool { return x.Name == name })
	if i < 0 {
		var names []string
		for _, x := range all {
			names = append(names, x.Name)
		}
		t.Fatalf("no table %s in %q", name, names)
	}
	return all[i]
}

// cellAt returns the text in the row that begins with some texts and the column
// of a heading.
func cellAt(t *testing.T, table Table, heading string, row ...string) TableCell {
	t.Helper()
	j := slices.Index(table.headings(), heading)
	for _, r := range table.Rows {
		match := j >= 0
		for k, text := range row {
			match = match && r[k].Text == text
		}
		if match {
			return r[j]
		}
	}
	t.Fatalf("%s: no %q in the row of %q; columns %q", table.Name, heading, row, table.headings())
	return TableCell{}
}

// made is a small study: CMP and a variant without a promise in three
// repetitions, a mechanism that does not exist at its ε, and a baseline.
var made = sync.OnceValue(func() *results.Prepared {
	var rows []results.Row
	add := func(mechanism, variant string, epsilon results.Float, repetition, right int, promise string) {
		r := results.NewRow()
		r.Study, r.Index, r.Key, r.Repetition = "made-up", len(rows), fmt.Sprint(len(rows)), repetition
		r.Dataset, r.DatasetFingerprint, r.TestItems = "imdb", "f", 400
		r.Embedding, r.Dimension, r.Model, r.Setting = "glove.6B", 50, "svm", "local"
		r.Mechanism, r.Variant, r.Epsilon = mechanism, variant, epsilon
		if r.GuaranteeMetric = promise; promise == "" {
			r.GuaranteeReason = "the word itself is left out"
		}
		if mechanism == results.BaselineMechanism {
			r.Setting = ""
		}
		if right < 0 {
			r.Status, r.Reason = results.StatusUndefined, "gumbel: undefined: epsilon = 1: must be > 42"
			rows = append(rows, r)
			return
		}
		rows = append(rows, r.Of("accuracy", results.Share(right, 400)))
		if repetition == 1 && epsilon.Known() {
			r.Model, r.Setting = "", ""
			rows = append(rows, r.Of("e_m_full_uniform", results.Number(0.9-float64(epsilon)/20)))
		}
	}
	for repetition := 1; repetition <= 3; repetition++ {
		add(results.BaselineMechanism, "", results.Missing, repetition, 320+repetition, "")
		for _, e := range []results.Float{1, 5, 10} {
			add("cmp", "proved", e, repetition, 200+10*int(e)+4*repetition, "euclidean")
			add("vickrey", "printed", e, repetition, 240+10*int(e)+4*repetition, "")
		}
	}
	add("gumbel", "proved", 1, 1, -1, "euclidean")
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		panic(err)
	}
	return p
})

func TestGrid(t *testing.T) {
	t.Parallel()
	table := find(t, All(made()), "accuracy-svm-local")
	// 214, 218 and 222 of 400: 54.5 ± 2.48, by hand with t = 4.303 for two degrees of freedom.
	for want, at := range map[string][]string{"54.50 ± 2.48": {"glove.6B d=50 ε=1", "IMDb", "CMP"},
		"80.50 ± 0.62": {"glove.6B d=50 ε=1", "IMDb", "Baseline"}, "": {"glove.6B d=50 ε=5", "IMDb", "Baseline"},
		"undefined": {"glove.6B d=50 ε=1", "IMDb", results.MechanismTitle("gumbel")}} {
		if got := cellAt(t, table, at[0], at[1:]...); got.Text != want {
			t.Errorf("%q: %q, want %q", at, got.Text, want)
		}
	}
	best := cellAt(t, table, "glove.6B d=50 ε=10", "IMDb", "Vickrey, printed")
	if !best.Best || !best.Above || cellAt(t, table, "glove.6B d=50 ε=5", "IMDb", "Vickrey, printed").Above {
		t.Errorf("%+v: want the best, above the baseline of 80.5 at ε=10 only", best)
	}
	text := render(t, table, "md")
	for _, want := range []string{"no privacy guarantee: the word itself is left out", "ε must be > 42",
		"wide interval"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

// Every table of a whole study is well formed in every format, marks generated
// data, and has a name of its own.
func TestTablesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, study := range []string{"mini", "attacks"} {
		all := All(records.View(t, study))
		if len(all) < 5 {
			t.Errorf("%s: %d tables", study, len(all))
		}
		names := map[string]bool{}
		for _, x := range all {
			if names[x.Name] || strings.HasSuffix(x.Name, "-generated") != (study == "mini") {
				t.Errorf("%s: name %s", study, x.Name)
			}
			names[x.Name] = true
			for i, row := range x.Rows {
				if len(row) != len(x.Header) {
					t.Errorf("%s: row %d has %d cells under %d headings", x.Name, i, len(row), len(x.Header))
				}
			}
			lines, err := csv.NewReader(strings.NewReader(render(t, x, "csv"))).ReadAll()
			if err != nil || len(lines) != len(x.Rows)+1 {
				t.Errorf("%s: %d lines of CSV for %d rows, %v", x.Name, len(lines), len(x.Rows), err)
			}
			tex := render(t, x, "tex")
			if strings.Count(tex, "{") != strings.Count(tex, "}") ||
				strings.Count(tex, `\begin`) != strings.Count(tex, `\end`) {
				t.Errorf("%s: unbalanced LaTeX", x.Name)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := []Table{{Name: "a", Title: "A", Header: []string{"x"}}, {Name: "b", Title: "B", Header: []string{"x"}}}
	if paths, err := Write(dir, list, []string{"csv"}); err != nil || len(paths) != 2 {
		t.Errorf("%q, %v", paths, err)
	}
	if paths, err := Write(dir, list, nil); err != nil || len(paths) != 6 {
		t.Errorf("%q, %v", paths, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "b.tex")); err != nil {
		t.Error(err)
	}
	if _, err := Write(dir, list, []string{"pdf"}); err == nil || !strings.Contains(err.Error(), `format = "pdf"`) {
		t.Errorf("error %v", err)
	}
}

// One question has one number: the accuracy of the best mechanism at a stated
// error is the same in the brief, the main table, the table of all errors and the
// alignment itself.
func TestOneNumberForOneQuestion(t *testing.T) {
	t.Parallel()
	p := records.View(t, "extended")
	all, brief := All(p), Brief(p, 100)
	main := Ranking(p, compare.Question{}, results.StatedErrors, false)
	for _, level := range results.StatedErrors {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			dataset, best := results.DatasetTitle(a.Dataset), compare.Line{}
			aligned := find(t, all, "aligned-accuracy-svm-local")
			for _, l := range a.Lines {
				got := cellAt(t, aligned, fmt.Sprint("E_M ", level), dataset+", "+a.Space.String(), l.Name).Text
				if want := Within(l, 2); got != want {
					t.Errorf("%s, %s at %g: table %s, alignment %s", dataset, l.Name, level, got, want)
				}
				if l.Reached && results.Scope(l.Cells) == "" && l.Cells[0].GuaranteeMetric != "" && l.Value > best.Value {
					best = l
				}
			}
			if got := cellAt(t, brief, "accuracy in %", dataset, a.Space.String()+", svm (local)", fmt.Sprint(level),
				best.Name).Text; got != Within(best, 1) {
				t.Errorf("%s at %g: brief %s, alignment %s", dataset, level, got, Within(best, 1))
			}
			if got := cellAt(t, main, "accuracy in %", dataset, a.Space.String()+", svm (local)", fmt.Sprint(level),
				best.Name).Text; got != Within(best, 1) {
				t.Errorf("%s at %g: main table %s, alignment %s", dataset, level, got, Within(best, 1))
			}
		}
	}
}

// What nobody promises does not win, and a promise between some words is only
// mentioned.
func TestPromisesCompete(t *testing.T) {
	t.Parallel()
	for _, s := range compare.Standings(made(), compare.Question{}, 0.5) {
		if len(s.Entries) != 1 || s.Entries[0].Line.Name != "CMP" {
			t.Errorf("%+v", s.Entries)
		}
	}
	if equal, ok := AtFirstLevel(made(), 9); !ok || !strings.Contains(equal.Legend, results.UnprovedMark) ||
		!strings.Contains(fmt.Sprint(equal.Rows), results.UnprovedMark) {
		t.Errorf("%v, %v", equal.Rows, ok)
	}
	scoped := made().Select(func(c results.Cell) bool { return c.Mechanism != "gumbel" })
	scoped.Cells = slices.Clone(scoped.Cells)
	for i := range scoped.Cells {
		if c := &scoped.Cells[i]; c.Mechanism == "vickrey" {
			c.GuaranteeMetric, c.GuaranteeScope = "euclidean", "within lists"
		}
	}
	brief := Brief(scoped, 9)
	if best := brief.Rows[0][3]; best.Text != "CMP" || len(best.Notes) != 1 ||
		!strings.Contains(brief.Notes[0], "Vickrey (printed)"+results.ScopeMark+" keeps") ||
		!strings.Contains(brief.Notes[0], "only within lists") {
		t.Errorf("%+v, %q", best, brief.Notes)
	}
	table := find(t, All(made()), "promises-svm-local")
	// On the line of CMP 75.5% (5 below 80.5) lies between ε=5 (64.5%, E_M 0.65) and 10 (77%, 0.4): at 0.43.
	if got := cellAt(t, table, "E_M at 5 points lost, IMDb", "CMP").Text; !strings.HasPrefix(got, "0.43 ± ") {
		t.Errorf("E_M of CMP at 5 points lost: %s", got)
	}
	if got := cellAt(t, table, "promise", "Vickrey, printed").Text; got != "none" {
		t.Errorf("promise %q", got)
	}
}

func TestNoteMarks(t *testing.T) {
	t.Parallel()
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 52: "ba"} {
		if got := noteMark(i); got != want {
			t.Errorf("mark %d: %s, want %s", i, got, want)
		}
	}
}

// Tables of attackers end with what each finds in plain text and by guessing: the
// ceilings and floors of their records.
func TestAttackersHaveTheirEnds(t *testing.T) {
	t.Parallel()
	p := records.View(t, "attacks")
	ends := map[string][2]float64{} // by title: least floor, most ceiling
	attackers := Attackers(p.Cells)
	for _, c := range p.Private() {
		for _, q := range attackers {
			if m, ok := c.At(q.Name); ok && c.Dataset == "spooky-authors" && m.Floor.Known() {
				e, again := ends[q.Heading()]
				if !again {
					e = [2]float64{math.Inf(1), math.Inf(-1)}
				}
				ends[q.Heading()] = [2]float64{min(e[0], float64(m.Floor)), max(e[1], float64(m.Ceiling))}
			}
		}
	}
	table := find(t, All(p), "attackers-spooky-authors")
	n := len(table.Rows)
	for k, title := range table.Header[2:] {
		e, ok := ends[title]
		if !ok {
			continue
		}
		delete(ends, title)
		plain, guess := table.Rows[n-2][2+k].Text, table.Rows[n-1][2+k].Text
		q := results.Where(attackers, func(q results.Column) bool { return q.Heading() == title })[0]
		if !strings.HasPrefix(guess, FormatNumber(e[0], q.Digits)) ||
			!strings.HasSuffix(plain, FormatNumber(e[1], q.Digits)) {
			t.Errorf("%s: plain text %s, guessing %s, want %v", title, plain, guess, e)
		}
	}
	if table.Rows[n-2][0].Text != "plain text" || table.Rows[n-1][0].Text != "guessing" || len(ends) > 0 {
		t.Errorf("%v; not compared: %v", table.Rows[n-1], ends)
	}
}
