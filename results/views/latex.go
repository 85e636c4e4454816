package views

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"mldpbench/internal/list"
)

var latexEscaper = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`,
	"±", `$\pm$`, "≤", `$\leq$`, "≥", `$\geq$`, "×", `$\times$`, "·", `$\cdot$`, "−", "--", "–", "--", "†", `\dag{}`,
	"‡", `\ddag{}`, "’", "'", "…", `\dots{}`, "ε", `$\varepsilon$`, "δ", `$\delta$`, "γ", `$\gamma$`, "λ", `$\lambda$`,
	"β", `$\beta$`, "α", `$\alpha$`, "\n", " ")

// subscript is N_w as written by latexEscaper.
var subscript = regexp.MustCompile(`\b([A-Z])\\_([A-Za-z]+)\b`)

func latex(s string) string {
	return subscript.ReplaceAllString(latexEscaper.Replace(s), `$$${1}_{\mathrm{${2}}}$$`)
}

// writeLaTeX renders a booktabs table that is never wider than its column; it needs
// \usepackage{booktabs,graphicx}. Which columns there are is the view's choice.
func (t Table) writeLaTeX(w io.Writer) error {
	var b strings.Builder
	line := func(cells []string) { fmt.Fprintf(&b, "%s \\\\\n", strings.Join(cells, " & ")) }
	fmt.Fprintf(&b, "\\begin{table}\n\\centering\n\\caption{%s}\n\\label{tab:%s}\n", latex(t.Title), Slug(t.Name))
	b.WriteString("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n")
	fmt.Fprintf(&b, "\\begin{tabular}{@{}%s%s@{}}\n\\toprule\n", strings.Repeat("l", max(1, t.heads)),
		strings.Repeat("r", max(0, len(t.Header)-max(1, t.heads))))
	line(list.Map(t.Header, latex))
	b.WriteString("\\midrule\n")
	for i, r := range t.Rows {
		if i > 0 && t.heads > 1 && r[0].Text != t.Rows[i-1][0].Text {
			b.WriteString("\\midrule\n")
		}
		line(list.Map(r, func(c Cell) string {
			s := latex(c.Text)
			if c.Own {
				s = `\emph{` + s + `}`
			}
			if c.Tied {
				s = `\underline{` + s + `}`
			}
			if c.Best {
				s = `\textbf{` + s + `}`
			}
			if len(c.Notes) > 0 {
				s += `\textsuperscript{` + Marks(c.Notes) + `}`
			}
			return s
		}))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}}\n")
	if t.Legend != "" || len(t.Notes) > 0 {
		texts := []string{latex(t.Legend)}
		for i, n := range t.Notes {
			texts = append(texts, `\textsuperscript{`+Marks([]int{i})+`}`+latex(n))
		}
		fmt.Fprintf(&b, "\\par\\smallskip\\parbox{\\linewidth}{\\footnotesize %s}\n",
			strings.TrimSpace(strings.Join(texts, " ")))
	}
	b.WriteString("\\end{table}\n")
	_, err := io.WriteString(w, b.String())
	return err
}
