package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPaper writes three tables and two figures of the study extended into a
// paper with the measures of ACL: no box is overfull, and tables have their
// numbers.
func TestPaper(t *testing.T) {
	if testing.Short() {
		t.Skip("draws figures and runs LaTeX")
	}
	tex, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("no pdflatex on this machine: LaTeX is not compiled")
	}
	if kpse, err := exec.Command("kpsewhich", "booktabs.sty").Output(); err != nil || len(kpse) == 0 {
		t.Skip("no booktabs on this machine: LaTeX is not compiled")
	}
	dir, extended := t.TempDir(), filepath.Join("..", "..", "results", "reference", "extended.csv.gz")
	do := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != exitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	do("tables", extended, "--only", "aligned-accuracy,promises", "--narrow", "--format", "tex", "-o", dir)
	do("tables", extended, "--only", "guarantees", "--format", "tex", "-o", dir)
	do("figures", extended, "--only", "frontier,accuracy", "--width", "3.03in", "--no-title", "--no-notes",
		"--font", "Serif", "--format", "pdf", "-o", dir)
	inputs, err := filepath.Glob(filepath.Join(dir, "*.tex"))
	figures, _ := filepath.Glob(filepath.Join(dir, "*.pdf")) // the pattern is legal
	if err != nil || len(inputs) != 3 || len(figures) != 2 {
		t.Fatalf("tables %q, figures %q", inputs, figures)
	}
	var b strings.Builder
	b.WriteString("\\documentclass[11pt,twocolumn]{article}\n\\usepackage{times,booktabs,graphicx,array}\n" +
		"\\usepackage[textwidth=16cm,textheight=24.7cm,columnsep=6mm]{geometry}\n\\begin{document}\n")
	for i, f := range figures {
		fmt.Fprintf(&b, "\\begin{figure}\\includegraphics{%s}\\caption{Figure.}\\label{fig:%d}\\end{figure}\n",
			filepath.Base(f), i)
	}
	labels := regexp.MustCompile(`\\label\{(tab:[^}]*)\}`)
	var names []string
	for _, f := range inputs {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, labels.FindStringSubmatch(string(text))[1])
		fmt.Fprintf(&b, "\\input{%s}\n\\clearpage\n", filepath.Base(f))
	}
	for _, name := range names {
		fmt.Fprintf(&b, "\\typeout{NUMBER \\csname r@%s\\endcsname}\n", name)
	}
	b.WriteString("Text.\\end{document}\n")
	writeFile(t, filepath.Join(dir, "paper.tex.in"), b.String())
	var out []byte
	for range 2 { // the second knows the numbers
		cmd := exec.Command(tex, "-interaction=nonstopmode", "-halt-on-error", "-jobname=paper", "paper.tex.in")
		cmd.Dir = dir
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if regexp.MustCompile(`Overfull|Float too large`).Match(out) {
		t.Errorf("%s", out)
	}
	for i := range names {
		if want := fmt.Sprintf("NUMBER {%d}", i+1); !strings.Contains(string(out), want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}
