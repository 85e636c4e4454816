package results

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestLaTeXFitsTwoColumns(t *testing.T) {
	narrow := Table{Name: "n", Title: "E_M by N_w", Header: []string{"mechanism", "accuracy in %"}}
	narrow.AddRow("CMP", "71.4 ± 1.5")
	text := render(t, narrow, "tex")
	for _, want := range []string{`\begin{table}`, `\caption{$E_{M}$ by $N_{w}$}`, `\begin{tabular}{@{}lr@{}}`,
		`71.4 $\pm$ 1.5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	wide := narrow
	wide.AddRow("CMP", strings.Repeat("a long reason ", 10))
	if text := render(t, wide, "tex"); !strings.Contains(text, `\begin{table*}`) ||
		!strings.Contains(text, `\linewidth}`) || !strings.Contains(text, `\raggedright`) {
		t.Errorf("a long text: %s", text)
	}
	long := narrow
	for range 200 {
		long.AddRow("Mahalanobis", "1.0")
	}
	if text := render(t, long, "tex"); strings.Count(text, `\begin{table}`) < 3 || strings.Count(text, `\label`) != 1 ||
		strings.Count(text, "Mahalanobis") != 200 {
		t.Errorf("a long table: %s", text)
	}
	many := Table{Name: "m", Title: "many", Header: []string{"mechanism"}}
	row := []string{"CMP"}
	for j := range 30 {
		many.Header, row = append(many.Header, fmt.Sprint("ε = ", j)), append(row, "71.4 ± 1.5")
	}
	many.AddRow(row...)
	if text := render(t, many, "tex"); strings.Count(text, `\begin{table*}`) < 3 ||
		strings.Count(text, "CMP &") != strings.Count(text, `\begin{table*}`) || strings.Count(text, "71.4") != 30 {
		t.Errorf("many columns: %s", text)
	}
	compact := narrow.Compact()
	if text := render(t, compact, "tex"); strings.Contains(text, "pm") ||
		!strings.Contains(text, "(means over repetitions)") {
		t.Errorf("compact: %s", text)
	}
	if narrow.Rows[0][1].Text != "71.4 ± 1.5" {
		t.Error("Compact changed its table")
	}
}

// Where TeX is installed, all tables of a study compile in two columns, whole
// and compact, and no table is wider than its column or higher than its page.
func TestLaTeXCompiles(t *testing.T) {
	t.Parallel()
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex on this machine: LaTeX is not compiled")
	}
	records := syntheticStudy(1, 5, 0)
	more := syntheticStudy(2, 5, 0) // more columns than a page holds
	for i := range more {
		more[i].Dimension, more[i].Key = 300, "second"+more[i].Key
	}
	tables := Tables(TableInputs{Records: append(records, more...)})
	hard := Table{Name: "hard", Title: "Names and reasons of any length: " +
		strings.Repeat("a title of several lines, ", 8),
		Header: []string{"mechanism", "E_M of the posterior adversary, Euclidean", "why"},
		Legend: strings.Repeat("A legend of several lines. ", 20)}
	for i := range 120 {
		hard.AddRow("Mahalanobis, released, λ=0.2", "0.993 ± 0.001",
			strings.Repeat("ε must be > 42.8387 for this embedding_name ", i%5))
	}
	tables = append(tables, hard)
	var b strings.Builder
	b.WriteString("\\documentclass[twocolumn]{article}\n\\usepackage{booktabs}\n\\begin{document}\n")
	for _, table := range tables {
		for _, version := range []Table{table, table.Compact()} {
			fmt.Fprintf(&b, "\\typeout{TABLE %s}\n", version.Name)
			if err := version.WriteLaTeX(&b); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\\clearpage\n")
		}
	}
	b.WriteString("\\end{document}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.tex"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tex, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "all.tex")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log, err := os.ReadFile(filepath.Join(dir, "all.log"))
	if err != nil {
		t.Fatal(err)
	}
	table, seen := "", 0
	overfull := regexp.MustCompile(`^Overfull \\hbox \(([0-9.]+)pt`)
	for line := range strings.Lines(string(log)) {
		if name, ok := strings.CutPrefix(line, "TABLE "); ok {
			table, seen = strings.TrimSpace(name), seen+1
		}
		if m := overfull.FindStringSubmatch(line); m != nil {
			if points, err := strconv.ParseFloat(m[1], 64); err != nil || points > 1 {
				t.Errorf("%s: %s", table, line)
			}
		}
		if strings.Contains(line, "Float too large") {
			t.Errorf("%s: %s", table, line)
		}
	}
	if seen != 2*len(tables) {
		t.Errorf("%d of %d tables are in the log", seen, 2*len(tables))
	}
}
