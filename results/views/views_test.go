package views

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"mldpbench/results/quantity"

	_ "mldpbench/experiments/measure" // names of attackers' quantities
	"mldpbench/internal/list"
	"mldpbench/internal/records"
	"mldpbench/results"
	"mldpbench/results/analysis"
)

func render(t *testing.T, table Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func printed(t *testing.T, x Table, width int) string {
	var b strings.Builder
	if err := x.Print(&b, width); err != nil {
		t.Error(err)
	}
	return b.String()
}

func find(t *testing.T, all []Table, name string) Table {
	t.Helper()
	i := slices.IndexFunc(all, func(x Table) bool { return x.Name == name })
	if i < 0 {
		t.Fatalf("no table %s in %q", name, list.Map(all, func(x Table) string { return x.Name }))
	}
	return all[i]
}

// cellAt returns the cell in the row that begins with some texts and the column of
// a heading.
func cellAt(t *testing.T, table Table, heading string, row ...string) Cell {
	t.Helper()
	j := slices.Index(table.Header, heading)
	for _, r := range table.Rows {
		if texts := list.Map(r, func(c Cell) string { return c.Text }); j >= 0 && slices.Equal(texts[:len(row)], row) {
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
		r.GuaranteeMetric, r.GuaranteeReason = promise, "the word itself is left out"
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
			rows = append(rows, r.Of("em", results.Number(0.9-epsilon.Float()/20)))
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

// unasked is an analysis at no levels of one's own.
func unasked(p *results.Prepared) *analysis.Analysis { return analysis.Of(p, quantity.Levels{}) }

func all(p *results.Prepared) []Table { return Tables(unasked(p), Builtin().Tables) }

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
}

// What competes and is significantly different is bold or tied, by tests; nobody's guarantee does
// not compete, the user's own text does and is marked; of one repetition nothing is
// tested, so nothing is bold, in any format.
func TestBestIsTested(t *testing.T) {
	t.Parallel()
	table := find(t, all(made()), "equal-e-m-0.5")
	for name, tied := range map[string]bool{"CMP": true, "TEM": true, "Vickrey, printed" + results.UnprovedMark: false} {
		if c := cellAt(t, table, "IMDb", name); c.Tied != tied || c.Best {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if c := cellAt(t, table, "mechanism", "mine"+results.UnprovedMark); !c.Own {
		t.Errorf("the user's own is not marked: %+v", c)
	}
	if last := table.Rows[len(table.Rows)-1]; last[0].Text != "not privatised" || last[1].Text != "80.5" {
		t.Errorf("%+v", last)
	}
	const begins = "At equal privacy, where E_M = 0.5 (a Bayes adversary misidentifies 50% of the words), CMP has " +
		"the highest utility (IMDb 72.0%); no significant difference of TEM from it (minimum detectable: "
	const ends = "; mine (no guarantee) has significantly less."
	answer := Answer(unasked(made()))
	if !strings.HasPrefix(answer, begins) {
		t.Errorf("the answer is %q, want it to begin with %q", answer, begins)
	}
	if !strings.HasSuffix(answer, ends) {
		t.Errorf("the answer is %q, want it to end with %q", answer, ends)
	}
	alone := selected(made(), func(c results.Cell) bool { return c.Mechanism != "tem" })
	if c := cellAt(t, find(t, all(alone), "equal-e-m-0.5"), "IMDb", "CMP"); !c.Best || c.Tied {
		t.Errorf("significantly different from all others: %+v", c)
	}
	once := selected(made(), func(c results.Cell) bool { return c.Repetition <= 1 })
	for _, x := range all(once) {
		text := render(t, x, "md") + render(t, x, "tex")
		if regexp.MustCompile(`\*\*|textbf|<u>`).MatchString(text) ||
			x.Name == "equal-e-m-0.5" && !strings.Contains(text, "repeat at least three times") {
			t.Errorf("one repetition: %s", text)
		}
	}
	if text := Answer(unasked(once)); !strings.Contains(text, "nothing was tested: one repetition") {
		t.Error(text)
	}
}

// What is not reached says where it was measured, and levels are those that the
// study reaches.
func TestNotReached(t *testing.T) {
	t.Parallel()
	p := selected(made(), func(c results.Cell) bool { return c.Mechanism != "cmp" || c.Epsilon.Float() < 7 })
	text := render(t, find(t, all(p), "equal-e-m-0.5"), "md")
	high := selected(made(), func(c results.Cell) bool { return c.IsBaseline() || c.Epsilon.Float() < 7 })
	if !strings.Contains(text, "not reached: measured at E_M 0.65 to 0.85") {
		t.Errorf("the table does not say where CMP was measured, E_M 0.65 to 0.85:\n%s", text)
	}
	if got, want := unasked(p).Levels().At, []float64{0.5, 0.8}; !slices.Equal(got, want) {
		t.Errorf("levels of E_M %v, want %v", got, want)
	}
	if got, want := unasked(high).Levels().At, []float64{0.8}; !slices.Equal(got, want) {
		t.Errorf("levels of E_M where only high ones are reached %v, want %v", got, want)
	}
	asked := analysis.Of(high, quantity.Levels{Quantity: "accuracy", At: []float64{60}})
	table := find(t, Tables(asked, Builtin().Tables), "equal")
	if table.Title != "E_M at accuracy = 60, svm (local), glove.6B d=50" {
		t.Errorf("%q", table.Title)
	}
}

// A new table needs five lines, and what it does not name makes separate tables.
func TestOwnViews(t *testing.T) {
	t.Parallel()
	file, text := filepath.Join(t.TempDir(), "mine.yaml"), "tables:\n- {name: mine, rows: [epsilon], columns: [dataset]}\n"
	err := os.WriteFile(file, []byte(text), 0o644)
	views, failed := Load(file)
	if err != nil || failed != nil || len(views.Tables) != len(Builtin().Tables)+1 {
		t.Fatal(len(views.Tables), err, failed)
	}
	own := Named(Tables(unasked(made()), views.Tables), "mine")
	if len(own) != 6 || cellAt(t, find(t, own, "mine-cmp"), "IMDb", "1").Text != "54.50 ± 2.48" { // a table a mechanism
		t.Errorf("%d tables", len(own))
	}
	for text, want := range map[string]string{
		"tables:\n- name: mine\n  rows: [colour]\n":                  `tables[0]: rows = "colour": must be of dataset, space`,
		"tables:\n- name: a\n  rows: [dataset]\n  value: [speed]\n":  `"speed" is no quantity`,
		"tables:\n- name: a\n  rows: [dataset]\n  colums: [space]\n": `unknown field "colums"`,
		"figures:\n- name: a\n  x: epsilon\n":                        "figures[0]: y is missing",
		"figures:\n- {name: a, from: equal, x: n_w, y: [auc]}\n":     `x = "n_w": what is compared at equal privacy`,
	} {
		if _, err := Parse(file, []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// A title that looks like a number, a truth or a hexadecimal number stays as it is written.
func TestTitlesStayAsWritten(t *testing.T) {
	for _, title := range []string{"1.10", "007", "0x1F", "true", "1e-5", ".inf", "plain"} {
		for _, form := range []string{"tables:\n- name: a\n  rows: [dataset]\n  title: %s\n",
			"tables: [{name: a, rows: [dataset], title: %s}]\n"} {
			views, err := Parse("x.yaml", fmt.Appendf(nil, form, title))
			if err != nil {
				t.Fatalf("title %s: %v", title, err)
			}
			if got := views.Tables[0].Title; got != title {
				t.Errorf("the title is %q, want %q", got, title)
			}
		}
	}
}

// Of several mistakes the same one is named in every run, the first.
func TestTheFirstMistakeIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"tables:\n- {name: a, rows: [x1], columns: [x2], split: [x3], mean: [x4]}\n":         `rows = "x1"`,
		"tables:\n- {name: a, rows: [dataset], split: [x3], mean: [x4], where: {x5: [a]}}\n": `split = "x3"`,
		"figures:\n- {name: a, x: epsilon}\nranking:\n- {name: b}\nruns:\n- {name: c}\n":     "figures[0]: y is missing",
		"runs:\n- {name: c}\nversions:\n- {name: b}\nranking:\n- {name: b}\n":                "runs[0]: rows is missing",
	} {
		for range 30 { // a map of two keys would be in the right order each time with probability 1e-9
			if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("%q: error %v, want %q", text, err, want)
			}
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
	for name, want := range map[string]string{"accuracy-svm-local": "54.00", "accuracy-svm-features-tfidf-local": "44.00"} {
		if got := cellAt(t, find(t, tables, name), "IMDb", "CMP", "1").Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
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
			lines, err := csv.NewReader(strings.NewReader(render(t, x, "csv"))).ReadAll()
			if err != nil || len(lines) != len(x.Rows)+1 {
				t.Errorf("%s: %d lines of CSV for %d rows, %v", x.Name, len(lines), len(x.Rows), err)
			}
			for line := range strings.Lines(escapes.ReplaceAllString(printed(t, x, 80), "")) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
					t.Errorf("%s: a line of %d: %s", x.Name, n, line)
				}
			}
		}
	}
}

// The table that a paper prints, mechanisms × data sets at one level: each number is
// the alignment's, three are not significantly different from the rank fix on news and film reviews,
// so that none is bold; and, where TeX with booktabs is installed, it compiles, no line
// wider than its column.
func TestThePapersTable(t *testing.T) {
	t.Parallel()
	p := selected(records.View(t, "extended"), func(results.Cell) bool { return true })
	asked := analysis.Of(p, quantity.Levels{Quantity: "em", At: []float64{0.5}})
	table := find(t, Tables(asked, Builtin().Tables), "equal")
	for _, a := range asked.Alignments("", 0.5) {
		for _, l := range a.Lines {
			if a.Datasets > 0 || !l.Reached {
				continue
			}
			got := cellAt(t, table, results.DatasetTitle(a.Dataset), l.Name+results.Mark(l.Cells)).Text
			if want := within(l.Value, l.Low, l.High, 1); got != want {
				t.Errorf("%s, %s: table %s, alignment %s", a.Dataset, l.Name, got, want)
			}
		}
	}
	text := render(t, table, "tex")
	for _, want := range []string{`\caption{Accuracy in \% at $E_{\mathrm{M}}$ = 0.5`,
		`mechanism & AG News & IMDb & Product Reviews \\`, `Rank fix & \underline{88.0 $\pm$ 0.6} & \underline{75.3 `,
		`Generalised Vickrey & \underline{87.0 $\pm$ 0.7} & \underline{73.4 $\pm$ 1.3} & 80.7 $\pm$ 1.6 \\`,
		`not privatised & 88.7 & 76.7 & 89.0 \\`, `k-th neighbour\textsuperscript{a} & -- & -- & -- \\`} {
		if !strings.Contains(text, want) || strings.Contains(text, "textbf") {
			t.Errorf("no %s in %s", want, text)
		}
	}
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex on this machine: LaTeX is not compiled")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.tex"), []byte("\\documentclass[10pt,twocolumn]{article}\n"+
		"\\usepackage{booktabs,graphicx}\n\\begin{document}\n"+strings.Join(list.Map(all(p), func(x Table) string {
		return render(t, x, "tex") + "\\clearpage\n"
	}), "")+"\\end{document}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tex, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "Overfull \\hbox") {
		t.Fatalf("%v: %s", err, out)
	}
}

// On a terminal numbers are bold and underlined, in a pipe they have marks; what has
// no room is named.
func TestPrint(t *testing.T) {
	t.Parallel()
	x := Table{Title: "E_M by N_w", Header: []string{"mechanism", "first", "second"}, heads: 1}
	x.Rows = [][]Cell{{{Text: "CMP", Own: true}, {Text: "71.4", Best: true}, {Text: strings.Repeat("word ", 12), Tied: true}}}
	for _, c := range []struct{ text, want, more, not string }{
		{render(t, x, "tex"), `\caption{$E_{\mathrm{M}}$ by $N_{\mathrm{w}}$}`, `\emph{CMP} & \textbf{71.4} & \underline{word`, "~"},
		{printed(t, x, 0), "CMP (yours)  71.4 *  word", "word  ~", "\x1b"},
		{printed(t, x, 60), "\x1b[1m71.4\x1b[0m", "\x1b[4m", "~"}, {printed(t, x, 24), "No room for: second", "CMP", "word"},
	} {
		if !strings.Contains(c.text, c.want) || !strings.Contains(c.text, c.more) || strings.Contains(c.text, c.not) {
			t.Errorf("%q", c.text)
		}
	}
}

// A spreadsheet must not run what a name of the user's says; numbers stay numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"=1+1": "'=1+1", "+SUM(A1)": "'+SUM(A1)", "-2+3+cmd|' /C calc'!A0": "'-2+3+cmd|' /C calc'!A0", "\t=1": "'\t=1",
		"@SUM(A1)": "'@SUM(A1)", "-0.5": "-0.5", "-1.2 ± 0.3": "-1.2 ± 0.3", "-1e-06": "-1e-06", "–": "–", "cmp": "cmp", "": "",
	} {
		if got := inert(text); got != want {
			t.Errorf("%q is written as %q, want %q", text, got, want)
		}
	}
	text, marks := render(t, Table{Header: []string{"=cmd|' /C calc'!A0"}}, "csv"), Marks(0, 25, 26, 52)
	if !strings.HasPrefix(text, "'=cmd|") || marks != "a,z,aa,ba" {
		t.Errorf("%s; marks %s", text, marks)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// A regression is in the tables of a comparison: of its changes the first, of its tests
// those that found it, with their numbers.
func TestComparisons(t *testing.T) {
	t.Parallel()
	run := func(points int) *results.Prepared {
		all := slices.Clone(made().Rows)
		for i, r := range all {
			if r.Mechanism == "cmp" && r.Quantity == "accuracy" {
				all[i].Measured = results.Share(r.Part-4*points, 400)
			}
		}
		return prepare(all)
	}
	gate := analysis.Options{Level: analysis.GateLevel, Thresholds: true}
	same, c := analysis.Runs(run(0), run(0), gate), analysis.Runs(run(0), run(10), gate)
	few, every := Compared(c, 2), Compared(c, -1)
	changes, tests, all := find(t, few, "changes"), find(t, few, "tests"), find(t, every, "tests")
	if len(changes.Rows) != 2 || changes.Legend != "15 in all." || len(find(t, every, "changes").Rows) != 15 {
		t.Errorf("%d rows, %q", len(changes.Rows), changes.Legend)
	}
	if x := cellAt(t, tests, "change", "accuracy", "IMDb, CMP"); x.Value != -10.0 || x.Text != "-10.00 ± 0.00" {
		t.Errorf("%+v", x)
	}
	if text := render(t, tests, "md"); len(all.Rows) != len(c.Tests) || strings.Contains(text, "same |") {
		t.Errorf("%d tests, of them %s", len(all.Rows), text)
	}
	quantities := results.Distinct(same.Tests, func(x analysis.Test) string { return x.Quantity })
	if n := len(find(t, Compared(same, 2), "tests").Rows); n != len(quantities) {
		t.Errorf("%d tests of equal runs", n)
	}
}

// selected is the view of some cells.
func selected(p *results.Prepared, keep func(results.Cell) bool) *results.Prepared {
	s := *p
	s.Cells = results.Where(p.Cells, keep)
	return &s
}

// The views of the study: a ratio is a mean over dimensions, texts before and after are
// paragraphs in LaTeX with their letters escaped, and a regression stands beside Table 4.
func TestStudyViews(t *testing.T) {
	var rows []results.Row
	for i := range 24 {
		r := results.NewRow()
		r.Study, r.Index, r.Key, r.Repetition, r.Dataset = "study", i, fmt.Sprint(i), 1, "imdb"
		r.Embedding, r.Dimension, r.Mechanism, r.Variant = "glove.6B", 50*(1+i%2), "cmp", "as-run"
		r.Epsilon = results.Float(float64(1 + i/2))
		e := r.Epsilon.Float()
		for q, v := range map[string]float64{"n_w": 2 * e, "s_w": float64(2 - i%2), "pp": 90 + e*e/10,
			"cs": 100 + 3*e - float64(2-i%2)} { // exactly
			rows = append(rows, r.Of(q, results.Number(v)))
		}
		m := results.Share(1, 2)
		m.Detail = strings.Repeat("50% of_words & ", 8)
		rows = append(rows, r.Of("example", m))
	}
	p, err := results.Prepare(results.Run{Rows: rows})
	if err != nil {
		t.Fatal(err)
	}
	a := unasked(p)
	figures := Builtin().Figures
	sets := Sets(a, figures[slices.IndexFunc(figures, func(v View) bool { return v.Name == "nw-sw" })])
	if i := sets[0].Items[0]; len(sets) != 1 || len(sets[0].Items) != 12 || i.Value != (2.0/2+2.0/1)/2 ||
		!strings.HasSuffix(sets[0].Title, "glove.6B d=50 and glove.6B d=100") {
		t.Errorf("%d sets, the first %q of %d items, %v", len(sets), sets[0].Title, len(sets[0].Items), i.Value)
	}
	tables := Tables(a, Builtin().Tables)
	own := find(t, tables, "examples-imdb-glove.6b-d-100")
	if tex := render(t, own, "tex"); !strings.Contains(tex, `{@{}llp{.66\linewidth}@{}}`) ||
		!strings.Contains(tex, `50\% of\_words \& 50\%`) || strings.Contains(tex, "resizebox") {
		t.Error(tex)
	}
	views := []View{{Name: "r", Title: "r", From: "regression", Rows: []string{"term"}, Columns: []string{"statistic"}, Value: []string{"cs"},
		On: []string{"epsilon", "s_w"}, Beside: map[string]string{"title": "printed", "S_w": "c"}}}
	own = Tables(a, views)[0]
	for term, want := range map[string]string{"constant": "100.000", "ε": "3.000", "S_w": "-1.000", "R²": "1.000 (24 texts)"} {
		if got := cellAt(t, own, "coefficient", term).Text; got != want {
			t.Errorf("%s: %s, want %s", term, got, want)
		}
	}
	if got := cellAt(t, own, "printed", "S_w").Text; got != "c" {
		t.Errorf("printed beside S_w: %q", got)
	}
}
