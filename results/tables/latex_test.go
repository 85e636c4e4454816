package tables

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mldpbench/internal/records"
)

func TestLaTeX(t *testing.T) {
	t.Parallel()
	narrow := Table{Name: "n", Title: "E_M by N_w", Header: []string{"mechanism", "accuracy in %"}}
	narrow.AddRow("CMP", "71.4 ± 1.5")
	text := render(t, narrow, "tex")
	for _, want := range []string{`\footnotesize`, `\caption{$E_{M}$ by $N_{w}$}\label{tab:n}`,
		`\begin{tabular}{@{}lr@{}}`, `71.4 $\pm$ 1.5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	long := narrow
	for range 200 {
		long.AddRow("Mahalanobis", "1.0")
	}
	text = render(t, long, "tex")
	floats := strings.Count(text, `\begin{table*}`)
	if floats < 3 || strings.Count(text, `\label`) != 1 || strings.Count(text, "Mahalanobis") != 200 ||
		strings.Count(text, `\addtocounter{table}{-1}`) != floats-1 ||
		strings.Index(text, `\addtocounter`) > strings.LastIndex(text, `\caption`) {
		t.Errorf("a long table: %s", text)
	}
	many := Table{Name: "m", Title: "many", Header: []string{"mechanism"}}
	row := []string{"CMP"}
	for j := range 30 {
		many.Header, row = append(many.Header, fmt.Sprint("ε=", j)), append(row, "71.4 ± 1.5")
	}
	many.AddRow(row...)
	text = render(t, many, "tex")
	if floats := strings.Count(text, `\begin{table*}`); floats < 3 || strings.Count(text, "CMP &") != floats ||
		strings.Count(text, "71.4") != 30 {
		t.Errorf("many columns: %s", text)
	}
}

// styles are the papers of this field by their columns, \footnotesize and font.
var styles = map[string]string{
	"ACL": "\\documentclass[11pt,twocolumn]{article}\n\\usepackage{times}\n" +
		"\\usepackage[textwidth=16cm,textheight=24.7cm,columnsep=6mm]{geometry}\n",
	"PoPETs": "\\documentclass[10pt,twocolumn]{article}\n\\usepackage[textwidth=506pt,textheight=666pt,columnsep=24pt]{geometry}\n",
}

// shrinks makes \resizebox say when it makes a table smaller.
const shrinks = "\\let\\original\\resizebox\n\\renewcommand\\resizebox[3]{\\sbox0{#3}\\ifdim\\wd0>\\linewidth" +
	"\\typeout{SHRUNK \\the\\wd0 to \\the\\linewidth}\\fi\\original{#1}{#2}{#3}}\n"

// Where TeX with booktabs is installed, all tables of a study compile in one
// column and in two: no line is wider than the page, no float higher, no table
// made smaller, and a continued table keeps its number.
func TestLaTeXCompiles(t *testing.T) {
	t.Parallel()
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex on this machine: LaTeX is not compiled")
	}
	if kpse, err := exec.Command("kpsewhich", "booktabs.sty").Output(); err != nil || len(kpse) == 0 {
		t.Skip("no booktabs on this machine: LaTeX is not compiled")
	}
	lists := map[string][]Table{"ACL": All(records.View(t, "mini")), "PoPETs": All(records.View(t, "extended"))}
	hard := Table{Name: "hard", Title: "Names of any length", Header: []string{"mechanism", "E_M", "why"},
		Legend: strings.Repeat("A legend of several lines. ", 20)}
	for i := range 120 {
		hard.AddRow("Mahalanobis, released, λ=0.2", "0.993 ± 0.001",
			strings.Repeat("ε must be > 42.8387 for this embedding_name ", i%5))
	}
	for i := range 70 {
		hard.Rows[i][1].Notes = []int{hard.Note(strings.Repeat("A footnote. ", 1+i))}
	}
	for style, preamble := range styles {
		for _, narrow := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", style, narrow), func(t *testing.T) {
				t.Parallel()
				compiles(t, tex, preamble, append(slices.Clone(lists[style]), hard), narrow)
			})
		}
	}
}

func compiles(t *testing.T, tex, preamble string, list []Table, narrow bool) {
	var b strings.Builder
	b.WriteString(preamble + "\\usepackage{booktabs,graphicx,array}\n\\extrafloats{500}\\maxdeadcycles=5000\n" +
		shrinks + "\\begin{document}\n")
	list = slices.DeleteFunc(list, func(t Table) bool { return narrow && len(t.Header) > 12 }) // hundreds of floats
	for _, table := range list {
		fmt.Fprintf(&b, "\\typeout{TABLE %s}\n", table.Name)
		table.Narrow = narrow
		if err := table.WriteLaTeX(&b); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\\clearpage\n")
	}
	b.WriteString("\\typeout{LAST \\thetable}\\end{document}\n")
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
	table, wide := "", regexp.MustCompile(`^Overfull \\hbox \(([0-9.]+)pt`)
	for line := range strings.Lines(string(out)) {
		if name, ok := strings.CutPrefix(line, "TABLE "); ok {
			table = strings.TrimSpace(name)
		}
		if m := wide.FindStringSubmatch(line); m != nil {
			if points, err := strconv.ParseFloat(m[1], 64); err != nil || points > 1 {
				t.Errorf("%s: %s", table, line)
			}
		}
		if strings.Contains(line, "Float too large") || strings.HasPrefix(line, "SHRUNK ") {
			t.Errorf("%s: %s", table, line)
		}
	}
	if want := fmt.Sprintf("LAST %d", len(list)); !strings.Contains(string(out), want) {
		t.Errorf("the last table is not number %d", len(list))
	}
}
