package results

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func syntheticTables(repetitions int) map[string]Table {
	in := TableInputs{
		Records: syntheticStudy(1, repetitions, 0),
		Datasets: []DatasetDescription{{Name: "imdb", Classes: 2, TrainDocuments: 10000, TestDocuments: 2000,
			Tokens: 808382, Vocabulary: 42662, LengthMean: 80.84, LengthSD: 22.53,
			ClassNames: []string{"negative", "positive"}, TrainClasses: []int{4990, 5010},
			TestClasses: []int{1001, 999}, Fingerprint: "0123456789abcdef"}},
		Examples: []Example{
			{Dataset: "imdb", Embedding: "glove.6B", Dimension: 50, Mechanism: "cmp", Variant: "proved", Epsilon: 1,
				Document: 7, Original: "good_film | 100%", Privatised: "bad $movie & {x}"},
			{Dataset: "imdb", Embedding: "glove.6B", Dimension: 50, Mechanism: "cmp", Variant: "proved", Epsilon: 5,
				Document: 8, Original: "other", Privatised: "other"},
		},
	}
	tables := map[string]Table{}
	for _, t := range Tables(in) {
		tables[t.Name] = t
	}
	return tables
}

func TestTablesCoverTheStudy(t *testing.T) {
	tables := syntheticTables(5)
	for _, name := range []string{
		"datasets", "accuracy-svm-local", "regression", "privacy-imdb", "english",
		"puc-75-svm-local", "puc-50-svm-local", "puc-25-svm-local",
		"ranks-accuracy-svm-local", "ranks-accuracy-overall-svm-local", "duels-accuracy-svm-local",
		"aligned-accuracy-svm-local", "aligned-epsilon-svm-local", "promises-svm-local-glove.6b-d-50", "stages",
		"cost-per-million-words", "adversary",
		"guarantees", "cost", "examples-imdb-glove.6b-50",
	} {
		if _, ok := tables[name]; !ok {
			t.Errorf("no table %s", name)
		}
	}
	for name, table := range tables {
		if strings.HasSuffix(name, "-generated") != strings.Contains(table.Title, "(generated data)") {
			t.Errorf("%s: title %q", name, table.Title)
		}
		text := render(t, table, "md")
		if strings.HasSuffix(name, "-generated") == strings.Contains(text, "IMDb") && name != "cost" {
			if strings.HasSuffix(name, "-generated") {
				t.Errorf("%s mixes generated and real data", name)
			}
		}
		for i, row := range table.Rows {
			if len(row) != len(table.Header) {
				t.Errorf("%s: row %d has %d cells under %d headings", name, i, len(row), len(table.Header))
			}
		}
	}
}

func TestDatasetsTable(t *testing.T) {
	table := syntheticTables(1)["datasets"]
	for _, want := range []string{"| IMDb ", "negative 4990 / 1001, positive 5010 / 999", "| 0123456789ab "} {
		if text := strings.Join(strings.Fields(render(t, table, "md")), " "); !strings.Contains(text,
			strings.TrimSpace(want)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func render(t *testing.T, table Table, format string) string {
	t.Helper()
	var b strings.Builder
	if err := table.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Text that cannot be repeated has a note at the head of its row, and nothing
// else has.
func TestUnrepeatableIsMarked(t *testing.T) {
	t.Parallel()
	records := syntheticStudy(1, 1, 0)
	for i := range records {
		records[i].Unrepeatable = records[i].Mechanism == "cmp"
	}
	marked := 0
	for _, table := range Tables(TableInputs{Records: records}) {
		if table.Name != "accuracy-svm-local" {
			continue
		}
		for _, row := range table.Rows {
			for _, n := range row[1].Notes {
				if strings.HasPrefix(table.Notes[n], "cannot be repeated") {
					marked++
					if row[1].Text != "CMP" {
						t.Errorf("%s is marked", row[1].Text)
					}
				}
			}
		}
	}
	if marked == 0 {
		t.Error("nothing is marked")
	}
}

func TestAccuracyTable(t *testing.T) {
	table := syntheticTables(5)["accuracy-svm-local"]
	var names []string
	for _, row := range table.Rows {
		names = append(names, row[1].Text)
	}
	if want := []string{"Baseline", "CMP", "Vickrey, printed", MechanismTitle("gumbel")}; !slices.Equal(names, want) {
		t.Fatalf("rows %q, want %q", names, want)
	}
	// Vickrey was made 4 points better than CMP throughout, over 5 × 400
	// documents: bold everywhere (4 points are 5.6 standard errors).
	for j := 2; j < len(table.Header); j++ {
		if table.Rows[1][j].Best || !table.Rows[2][j].Best {
			t.Errorf("column %s: the better mechanism is not the bold one", table.heading(j))
		}
	}
	if !strings.Contains(table.Rows[1][2].Text, " ± ") {
		t.Errorf("no interval: %q", table.Rows[1][2].Text)
	}
	notes := strings.Join(table.Notes, "\n")
	for _, want := range []string{"no privacy guarantee: the word itself is left out", "ε must be > 42"} {
		if !strings.Contains(notes, want) {
			t.Errorf("footnotes lack %q: %q", want, table.Notes)
		}
	}
	// Both cells of the row are undefined for the same reason, which is noted
	// at the head.
	if head, c := table.Rows[3][1], table.Rows[3][2]; c.Text != "undefined" || len(c.Notes) != 0 ||
		len(head.Notes) != 1 {
		t.Errorf("undefined cell is %+v under %+v", c, head)
	}
	if c := table.Rows[3][3]; c.Text != "" {
		t.Errorf("a cell that was not run is %+v", c)
	}
}

func TestAboveBaselineIsUnderlined(t *testing.T) {
	records := syntheticStudy(1, 5, -30) // mechanisms beat the baseline
	for _, table := range Tables(TableInputs{Records: records}) {
		if table.Name != "accuracy-svm-local" {
			continue
		}
		if !table.Rows[1][4].Above || table.Rows[0][2].Above {
			t.Errorf("underlining is wrong: %+v", table.Rows)
		}
		if md := render(t, table, "md"); !strings.Contains(md, "<u>") {
			t.Error("no underlining in Markdown")
		}
		if tex := render(t, table, "tex"); !strings.Contains(tex, `\underline{`) ||
			!strings.Contains(tex, `\textbf{\underline{`) {
			t.Error("no underlining in LaTeX")
		}
		return
	}
	t.Fatal("no accuracy table")
}

func TestFewRepetitionsAreFootnoted(t *testing.T) {
	notes := strings.Join(syntheticTables(2)["accuracy-svm-local"].Notes, "\n")
	if !strings.Contains(notes, "fewer than 5 repetitions") {
		t.Errorf("footnotes: %s", notes)
	}
	single := syntheticTables(1)["accuracy-svm-local"]
	if cell := single.Rows[1][2].Text; strings.Contains(cell, "±") || !strings.Contains(single.Legend, "none of one") {
		t.Errorf("one repetition: cell %q, legend %q", cell, single.Legend)
	}
	if notes := strings.Join(syntheticTables(5)["accuracy-svm-local"].Notes, "\n"); strings.Contains(notes,
		"repetition") {
		t.Errorf("five repetitions are enough: %s", notes)
	}
}

func TestEncoderIsFootnoted(t *testing.T) {
	for _, name := range []string{"privacy-imdb", "puc-50-svm-local", "regression"} {
		if l := syntheticTables(5)[name].Legend; !strings.Contains(l, "cs_encoder=sif") {
			t.Errorf("%s does not say how CS was measured: %s", name, l)
		}
	}
}

// subscriptMath is $E_{M}$, whose underscore is intended.
var subscriptMath = regexp.MustCompile(`\$[A-Z]_\{[A-Za-z]\}\$`)

// Every LaTeX row must have as many cells as columns, braces must balance and
// every special character must be escaped.
func TestLaTeXIsWellFormed(t *testing.T) {
	for name, table := range syntheticTables(5) {
		text := subscriptMath.ReplaceAllString(render(t, table, "tex"), "x")
		depth := 0
		for i, r := range text {
			escaped := i > 0 && text[i-1] == '\\'
			switch {
			case r == '{' && !escaped:
				depth++
			case r == '}' && !escaped:
				depth--
			case strings.ContainsRune("#%_", r) && !escaped && !strings.Contains(name, string(r)):
				t.Errorf("%s: bare %q at %q", name, r, text[max(0, i-20):i+1])
			case r > 127:
				t.Errorf("%s: %q is not LaTeX", name, r)
			}
		}
		if depth != 0 {
			t.Errorf("%s: braces do not balance", name)
		}
		body := text[strings.Index(text, `\midrule`):strings.Index(text, `\bottomrule`)]
		for _, line := range strings.Split(body, "\n") {
			if !strings.HasSuffix(line, `\\`) {
				continue
			}
			if cells := strings.Count(strings.ReplaceAll(line, `\&`, ""), "&") + 1; cells != len(table.Header) {
				t.Errorf("%s: %d cells in %q", name, cells, line)
			}
		}
	}
}

func TestMarkdownAndCSVAreWellFormed(t *testing.T) {
	for name, table := range syntheticTables(5) {
		for _, line := range strings.Split(render(t, table, "md"), "\n") {
			if strings.HasPrefix(line, "|") {
				if cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1; cells != len(table.Header) {
					t.Errorf("%s: %d cells in %q", name, cells, line)
				}
			}
		}
		rows, err := csv.NewReader(strings.NewReader(render(t, table, "csv"))).ReadAll()
		if err != nil || len(rows) != len(table.Rows)+1 || rows[0][len(rows[0])-1] != "notes" {
			t.Errorf("%s: %d rows of CSV, %v", name, len(rows), err)
		}
	}
	if err := (Table{}).Write(&strings.Builder{}, "pdf"); err == nil {
		t.Error("an unknown format must be an error")
	}
}

func TestWriteTables(t *testing.T) {
	dir := t.TempDir()
	paths, err := WriteTables(dir, Tables(TableInputs{Records: syntheticStudy(1, 5, 0)}))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != len(paths) || len(paths) == 0 || len(paths)%3 != 0 {
		t.Fatalf("%d files, %d paths, %v", len(files), len(paths), err)
	}
	again := t.TempDir()
	if _, err := WriteTables(again, Tables(TableInputs{Records: syntheticStudy(1, 5, 0)})); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a, err1 := os.ReadFile(f)
		b, err2 := os.ReadFile(filepath.Join(again, filepath.Base(f)))
		if err1 != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("%s differs between runs (%v, %v)", filepath.Base(f), err1, err2)
		}
	}
}

func TestNoteMarks(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 52: "ba"} {
		if got := noteMark(i); got != want {
			t.Errorf("noteMark(%d) = %q, want %q", i, got, want)
		}
	}
}

// A condition that one mechanism lacks is left out of the comparison of means.
func TestOverallRankUsesSharedConditions(t *testing.T) {
	records := slices.DeleteFunc(syntheticStudy(1, 5, 0), func(r Record) bool {
		return r.Generated || r.Mechanism == "vickrey" && r.Epsilon == 10
	})
	for _, table := range Tables(TableInputs{Records: records}) {
		if table.Name != "ranks-accuracy-overall-svm-local" {
			continue
		}
		for _, row := range table.Rows {
			if row[3].Text != "4" { // two dimensions × ε 1 and 5
				t.Errorf("%s: %s conditions, want 4", row[0].Text, row[3].Text)
			}
		}
		return
	}
	t.Fatal("no such table")
}
