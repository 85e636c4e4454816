package results

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// latexEscaper covers LaTeX's special characters and the symbols we print.
var latexEscaper = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "\n", " ",
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "λ", `$\lambda$`, "η", `$\eta$`,
	"±", `$\pm$`, "×", `$\times$`, "²", `$^2$`, "≥", `$\geq$`, "≤", `$\leq$`, "·", `$\cdot$`, "−", "$-$", "–", "--", "…", `\dots{}`,
	"’", "'", "“", "``", "”", "''", "†", `$\dagger$`, "‡", `$\ddagger$`,
)

var subscripted = regexp.MustCompile(`\b([A-Z])_([A-Za-z])\b`)

// latex escapes a text and sets E_M as the field prints it.
func latex(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range subscripted.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(latexEscaper.Replace(s[at:m[0]]))
		fmt.Fprintf(&b, "$%s_{%s}$", s[m[2]:m[3]], s[m[4]:m[5]])
		at = m[1]
	}
	b.WriteString(latexEscaper.Replace(s[at:]))
	return b.String()
}

// Widths of a column of text in a LaTeX table: longer texts break into lines.
const (
	longText   = 24  // runes that stand on one line
	textWidth  = 0.2 // of the page, of a column of long texts
	columnWide = 8   // columns that still fit one column of a page
)

// latexColumn aligns column j: numbers to the right, short texts to the left,
// long ones in lines.
func (t Table) latexColumn(j int) string {
	longest, numbers := 0, 0
	for _, row := range t.Rows {
		if j >= len(row) {
			continue
		}
		text := row[j].Text
		longest = max(longest, utf8.RuneCountInString(text))
		if text != "" && strings.ContainsRune("0123456789+-−<", []rune(text)[0]) {
			numbers++
		}
	}
	switch {
	case longest > longText:
		return fmt.Sprintf(`p{%g\textwidth}`, textWidth)
	case j > 0 && numbers > 0:
		return "r"
	}
	return "l"
}

// Compact leaves out intervals, footnotes and the legend: what a paper has room
// for. Its caption says that means are meant.
func (t Table) Compact() Table {
	c := t
	c.Notes, c.Legend, c.Rows = nil, "", make([][]TableCell, len(t.Rows))
	intervals := false
	for i, row := range t.Rows {
		c.Rows[i] = make([]TableCell, len(row))
		for j, cell := range row {
			cell.Notes = nil
			if mean, _, found := strings.Cut(cell.Text, " ± "); found {
				cell.Text, intervals = mean, true
			}
			c.Rows[i][j] = cell
		}
	}
	if intervals {
		c.Title += " (means over repetitions)"
	}
	return c
}

// WriteLaTeX renders a booktabs table; it needs \usepackage{booktabs}. A table of
// many or wide columns goes over both columns of a page (table*).
func (t Table) WriteLaTeX(w io.Writer) error {
	var b strings.Builder
	columns, wide := "", len(t.Header) > columnWide
	for j := range t.Header {
		c := t.latexColumn(j)
		columns += c
		wide = wide || strings.HasPrefix(c, "p{")
	}
	environment := "table"
	if wide {
		environment = "table*"
	}
	fmt.Fprintf(&b, "\\begin{%s}\n\\centering\n\\small\n\\setlength{\\tabcolsep}{3pt}\n\\caption{%s}\n\\label{tab:%s}\n\\begin{tabular}{%s}\n\\toprule\n",
		environment, latex(t.Title), t.Name, columns)
	if len(t.Groups) > 0 {
		var heads, rules []string
		at := 1
		for _, g := range t.Groups {
			if g.Title == "" {
				heads = append(heads, strings.Repeat(" & ", g.Span-1))
			} else {
				heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, g.Span, latex(g.Title)))
				rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at, at+g.Span-1))
			}
			at += g.Span
		}
		fmt.Fprintf(&b, "%s \\\\\n%s\n", strings.Join(heads, " & "), strings.Join(rules, ""))
	}
	var heads []string
	for _, h := range t.Header {
		heads = append(heads, latex(h))
	}
	fmt.Fprintf(&b, "%s \\\\\n\\midrule\n", strings.Join(heads, " & "))
	for i, row := range t.Rows {
		if i > 0 && len(row) > 0 && row[0].Separator {
			b.WriteString("\\midrule\n")
		}
		var cells []string
		for _, c := range row {
			s := latex(c.Text)
			if c.Above {
				s = `\underline{` + s + "}"
			}
			if c.Best {
				s = `\textbf{` + s + "}"
			}
			if len(c.Notes) > 0 {
				s += `\textsuperscript{` + marks(c.Notes) + "}"
			}
			cells = append(cells, s)
		}
		fmt.Fprintf(&b, "%s \\\\\n", strings.Join(cells, " & "))
	}
	b.WriteString("\\bottomrule\n\\end{tabular}\n")
	if len(t.Notes) > 0 || t.Legend != "" {
		b.WriteString("\\par\\smallskip\\footnotesize\n")
	}
	if t.Legend != "" {
		fmt.Fprintf(&b, "%s\\par\n", latex(t.Legend))
	}
	for i, n := range t.Notes {
		fmt.Fprintf(&b, "\\textsuperscript{%s}~%s\\par\n", noteMark(i), latex(n))
	}
	fmt.Fprintf(&b, "\\end{%s}\n", environment)
	_, err := io.WriteString(w, b.String())
	return err
}
