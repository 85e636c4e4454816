package results

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLaTeXFitsTwoColumns(t *testing.T) {
	narrow := Table{Name: "n", Title: "E_M by N_w", Header: []string{"mechanism", "accuracy in %"}}
	narrow.AddRow("CMP", "71.4 ± 1.5")
	text := render(t, narrow, "tex")
	for _, want := range []string{`\begin{table}`, `\caption{$E_{M}$ by $N_{w}$}`, `\begin{tabular}{lr}`, `71.4 $\pm$ 1.5`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	wide := narrow
	wide.AddRow("CMP", strings.Repeat("a long reason ", 5))
	if text := render(t, wide, "tex"); !strings.Contains(text, `\begin{table*}`) || !strings.Contains(text, `p{0.2\textwidth}`) || !strings.Contains(text, `\end{table*}`) {
		t.Errorf("a long text: %s", text)
	}
	compact := narrow.Compact()
	if text := render(t, compact, "tex"); strings.Contains(text, "pm") || !strings.Contains(text, "(means over repetitions)") {
		t.Errorf("compact: %s", text)
	}
	if narrow.Rows[0][1].Text != "71.4 ± 1.5" {
		t.Error("Compact changed its table")
	}
}

// Where TeX is installed, all tables of a study compile in two columns.
func TestLaTeXCompiles(t *testing.T) {
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex on this machine: LaTeX is not compiled")
	}
	var b strings.Builder
	b.WriteString("\\documentclass[twocolumn]{article}\n\\usepackage{booktabs}\n\\begin{document}\n")
	for _, table := range Tables(TableInputs{Records: syntheticStudy(1, 5, 0)}) {
		if err := table.WriteLaTeX(&b); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\\clearpage\n")
	}
	b.WriteString("\\end{document}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "all.tex"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tex, "-interaction=nonstopmode", "-halt-on-error", "all.tex")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
