package views

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

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

// cellAt returns the cell in the row that begins with some texts and the column of
// a heading.
func cellAt(t *testing.T, table Table, heading string, row ...string) Cell {
	t.Helper()
	j := slices.Index(table.Header, heading)
	for _, r := range table.Rows {
		match := j >= 0
		for k, text := range row {
			match = match && r[k].Text == text
		}
		if match {
			return r[j]
		}
	}
	t.Fatalf("%s: no %q in the row of %q; columns %q, rows %v", table.Name, heading, row, table.Header, table.Rows)
	return Cell{}
}

// madeRows are a small study: CMP, a variant without a promise and a text of the
// user's, a mechanism that does not exist at its ε, and a baseline.
func madeRows(repetitions int) (rows []results.Row) {
	add := func(mechanism, variant string, epsilon results.Optional, repetition, right int, promise string) {
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
			rows = append(rows, r.Of("e_m_full_uniform", results.Number(0.9-epsilon.Float()/20)))
		}
	}
	for repetition := 1; repetition <= repetitions; repetition++ {
		add(results.BaselineMechanism, "", results.Missing, repetition, 320+repetition, "")
		for _, e := range []float64{1, 5, 7.5, 8.5, 10} {
			add("cmp", "proved", results.Float(e), repetition, 200+int(10*e)+4*repetition, "euclidean")
			add("tem", "proved", results.Float(e), repetition, 196+int(10*e)+4*(4-repetition), "euclidean")
			add("vickrey", "printed", results.Float(e), repetition, 240+int(10*e)+4*repetition, "")
			add("mine", "", results.Float(e), repetition, 120+int(10*e)+4*repetition, "")
		}
	}
	add("gumbel", "proved", results.Float(1), 1, -1, "euclidean")
	return rows
}

func prepare(rows []results.Row) *results.Prepared {
	p, err := results.Prepare(results.Run{Name: "made-up", Rows: rows})
	if err != nil {
		panic(err)
	}
	return p
}

var made = sync.OnceValue(func() *results.Prepared { return prepare(madeRows(3)) })

func all(p *results.Prepared) []Table { return NewSheet(p).Tables(Builtin().Tables) }

func TestValuesByHand(t *testing.T) {
	t.Parallel()
	table := find(t, all(made()), "accuracy")
	// 214, 218 and 222 of 400: 54.5 ± 2.48, by hand with t = 4.303 for two degrees of freedom.
	for want, row := range map[string][]string{"54.50 ± 2.48": {"CMP", "1"}, "80.50 ± 0.62": {"Baseline", ""},
		"undefined": {results.MechanismTitle("gumbel"), "1"}} {
		if got := cellAt(t, table, "IMDb", row...); got.Text != want || got.Best || got.Tied {
			t.Errorf("%q: %+v, want %q: nothing is best at equal ε", row, got, want)
		}
	}
	if text := render(t, table, "md"); !strings.Contains(text, "must be > 42") || !strings.Contains(text, results.UnprovedMark) {
		t.Error(text)
	}
}

// What competes and is told apart is bold or tied, by tests; nobody's promise does
// not compete, the user's own text does and is marked; of one repetition nothing is
// tested, so nothing is bold, in any format.
func TestBestIsTested(t *testing.T) {
	t.Parallel()
	table := find(t, all(made()), "equal-e-m-0.5")
	if c := cellAt(t, table, "IMDb", "CMP"); !c.Tied || c.Best {
		t.Errorf("CMP and TEM are not told apart: %+v", c)
	}
	if c := cellAt(t, table, "IMDb", "TEM"); !c.Tied {
		t.Errorf("TEM: %+v", c)
	}
	if c := cellAt(t, table, "IMDb", "Vickrey, printed"+results.UnprovedMark); c.Tied || c.Best {
		t.Errorf("without a promise: %+v", c)
	}
	if c := cellAt(t, table, "mechanism", "mine"); !c.Own {
		t.Errorf("the user's own is not marked: %+v", c)
	}
	if last := table.Rows[len(table.Rows)-1]; last[0].Text != "not privatised" || last[1].Text != "80.5" {
		t.Errorf("%+v", last)
	}
	alone := made().Select(func(c results.Cell) bool { return c.Mechanism != "tem" })
	if c := cellAt(t, find(t, all(alone), "equal-e-m-0.5"), "IMDb", "CMP"); !c.Best || c.Tied {
		t.Errorf("told apart from all others: %+v", c)
	}
	once := made().Select(func(c results.Cell) bool { return c.Repetition <= 1 })
	for _, x := range all(once) {
		if text := render(t, x, "md") + render(t, x, "tex"); strings.Contains(text, "**") || strings.Contains(text, "textbf") ||
			strings.Contains(text, "<u>") {
			t.Errorf("one repetition: %s", text)
		}
	}
	if text := render(t, find(t, all(once), "equal-e-m-0.5"), "md"); !strings.Contains(text, "repeat at least three times") {
		t.Error(text)
	}
	if text := Answer(once); !strings.Contains(text, "nothing was tested: one repetition") {
		t.Error(text)
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	if got, want := Answer(made()), "At equal privacy, where the best guess of a word is wrong half the time, CMP keeps "+
		"most (IMDb 72.0%); TEM is not told apart from it (a difference under "; !strings.HasPrefix(got, want) ||
		!strings.HasSuffix(got, "; mine keeps less.") {
		t.Error(got)
	}
}

// What is not reached says where it was measured, and levels are those that the
// study reaches.
func TestNotReached(t *testing.T) {
	t.Parallel()
	p := made().Select(func(c results.Cell) bool { return c.Mechanism != "cmp" || c.Epsilon.Float() < 7 })
	text := render(t, find(t, all(p), "equal-e-m-0.5"), "md")
	if !strings.Contains(text, "not reached: measured at E_M 0.65 to 0.85") {
		t.Error(text)
	}
	if l := compare.Stated(p); l.String() != "em=0.5,0.8" {
		t.Errorf("levels %s", l)
	}
	high := made().Select(func(c results.Cell) bool { return c.IsBaseline() || c.Epsilon.Float() < 7 })
	if l := compare.Stated(high); l.String() != "em=0.8" {
		t.Errorf("levels %s", l)
	}
	high.Levels = results.Levels{Quantity: "accuracy", At: []float64{60}}
	if table := find(t, all(high), "equal"); table.Title != "E_M at accuracy = 60, svm (local), glove.6B d=50" {
		t.Errorf("%q", table.Title)
	}
}

// A new table needs five lines, and what it does not name makes separate tables.
func TestOwnViews(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tables:\n- name: mine\n  rows: [epsilon]\n  columns: [dataset]\n  value: [accuracy]\n")
	views, err := Load(file)
	if err != nil || len(views.Tables) != len(Builtin().Tables)+1 {
		t.Fatal(len(views.Tables), err)
	}
	own := Named(NewSheet(made()).Tables(views.Tables), "mine")
	if len(own) != 6 || cellAt(t, find(t, own, "mine-cmp"), "IMDb", "1").Text != "54.50 ± 2.48" { // a table a mechanism
		t.Errorf("%d tables", len(own))
	}
	for text, want := range map[string]string{
		"tables:\n- name: mine\n  rows: [colour]\n":                  `tables[0]: rows = "colour": must be of dataset, space`,
		"tables:\n- name: mine\n":                                    "tables[0]: rows is missing",
		"tables:\n- name: M/x\n  rows: [dataset]\n":                  `name = "M/x"`,
		"tables:\n- name: a\n  rows: [dataset]\n  value: [speed]\n":  `"speed" is no quantity`,
		"tables:\n- name: a\n  rows: [dataset]\n  colums: [space]\n": `unknown field "colums"`,
		"figures:\n- name: a\n  x: epsilon\n":                        "figures[0]: y is missing",
	} {
		write(text)
		if _, err := Load(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// Two classifiers that differ in their parameters are two, everywhere.
func TestModelsAreNotAveraged(t *testing.T) {
	t.Parallel()
	rows := madeRows(2)
	for _, r := range madeRows(2) {
		if r.Model != "" {
			r.ModelParameters, r.Key = "features=tfidf", r.Key+"tfidf"
			if r.Quantity == "accuracy" {
				r.Measured = results.Share(r.Part-40, r.Whole)
			}
			rows = append(rows, r)
		}
	}
	tables := all(prepare(rows))
	a, b := find(t, tables, "accuracy-svm-local"), find(t, tables, "accuracy-svm-features-tfidf-local")
	if x, y := cellAt(t, a, "IMDb", "CMP", "1").Text, cellAt(t, b, "IMDb", "CMP", "1").Text; !strings.HasPrefix(x, "54.00") ||
		!strings.HasPrefix(y, "44.00") {
		t.Errorf("%s and %s", x, y)
	}
	if x := find(t, tables, "equal-e-m-0.5-svm-features-tfidf-local"); !strings.Contains(x.Title, "svm, features=tfidf (local)") {
		t.Errorf("%q", x.Title)
	}
}

// Every table of a whole study is well formed in every format, marks generated
// data, has a name of its own, and fits a terminal.
func TestTablesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, study := range []string{"mini", "attacks"} {
		tables := all(records.View(t, study))
		if len(tables) < 5 {
			t.Errorf("%s: %d tables", study, len(tables))
		}
		names := map[string]bool{}
		for _, x := range tables {
			if names[x.Name] || strings.Contains(x.Title, "generated data") != (study == "mini") {
				t.Errorf("%s: name %s, title %s", study, x.Name, x.Title)
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
			if strings.Count(tex, "{") != strings.Count(tex, "}") || strings.Count(tex, `\begin`) != strings.Count(tex, `\end`) {
				t.Errorf("%s: unbalanced LaTeX", x.Name)
			}
			var b strings.Builder
			if err := x.Print(&b, 80); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(escapes.ReplaceAllString(b.String(), "")) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%s: a line of %d: %s", x.Name, n, line)
				}
			}
		}
	}
}

// One question has one number: what the table of a paper says is the alignment's.
func TestOneNumberForOneQuestion(t *testing.T) {
	t.Parallel()
	p := records.View(t, "extended")
	tables := all(p)
	for _, level := range []float64{0.5, 0.8} {
		for _, a := range compare.Align(p, compare.Question{}, level) {
			if a.Datasets > 0 {
				continue
			}
			for _, l := range a.Lines {
				if !l.Reached {
					continue
				}
				got := cellAt(t, find(t, tables, fmt.Sprintf("equal-e-m-%g", level)), results.DatasetTitle(a.Dataset),
					l.Name+results.Mark(l.Cells)).Text
				if want := Within(l.Value, l.Low, l.High, 1); got != want {
					t.Errorf("%s, %s at %g: table %s, alignment %s", a.Dataset, l.Name, level, got, want)
				}
			}
		}
	}
}

// On a terminal numbers are bold and underlined, in a pipe they have marks; what has
// no room is named.
func TestPrint(t *testing.T) {
	t.Parallel()
	x := Table{Title: "T", Header: []string{"mechanism", "first", "second"}, heads: 1}
	x.Rows = [][]Cell{{{Text: "CMP", Own: true}, {Text: "71.4", Best: true}, {Text: strings.Repeat("word ", 12), Tied: true}}}
	print := func(width int) string {
		var b strings.Builder
		if err := x.Print(&b, width); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	x.Title = "E_M by N_w"
	if text := render(t, x, "tex"); !strings.Contains(text, `\caption{$E_{\mathrm{M}}$ by $N_{\mathrm{w}}$}`) ||
		!strings.Contains(text, `\emph{CMP} & \textbf{71.4} & \underline{word`) {
		t.Error(text)
	}
	if text := print(0); !strings.Contains(text, "CMP (yours)  71.4 *  word") || !strings.Contains(text, "word  ~") {
		t.Error(text)
	}
	if text := print(60); !strings.Contains(text, "\x1b[1m71.4\x1b[0m") || !strings.Contains(text, "\x1b[4m") {
		t.Errorf("%q", text)
	}
	if text := print(24); !strings.Contains(text, "No room for: second") || strings.Contains(text, "word") {
		t.Errorf("%q", text)
	}
}

// A spreadsheet must not run what a name of the user's says; numbers stay numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	cells := map[string]string{
		"=1+1": "'=1+1", "+SUM(A1)": "'+SUM(A1)", "-2+3+cmd|' /C calc'!A0": "'-2+3+cmd|' /C calc'!A0",
		"@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "-0.5": "-0.5", "-1.2 ± 0.3": "-1.2 ± 0.3",
		"-1.2 [-2.0, 0.1]": "-1.2 [-2.0, 0.1]", "-1e-06": "-1e-06", "–": "–", "cmp": "cmp", "": "",
	}
	for text, want := range cells {
		if got := inert(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
	x := Table{Header: []string{"=cmd|' /C calc'!A0"}}
	if text := render(t, x, "csv"); !strings.HasPrefix(text, "'=cmd|") {
		t.Error(text)
	}
	if got := Marks(0, 25, 26, 52); got != "a,z,aa,ba" {
		t.Errorf("marks %s", got)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")
