package results

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
)

// latexEscaper covers LaTeX's special characters and the symbols we print.
var latexEscaper = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", `\textless{}`, ">", `\textgreater{}`, "\n", " ",
	"ε", `$\varepsilon$`, "δ", `$\delta$`, "α", `$\alpha$`, "β", `$\beta$`, "γ", `$\gamma$`, "λ", `$\lambda$`, "η",
	`$\eta$`,
	"±", `$\pm$`, "×", `$\times$`, "²", `$^2$`, "≥", `$\geq$`, "≤", `$\leq$`, "·", `$\cdot$`, "−", "$-$", "–", "--",
	"…", `\dots{}`,
	"’", "'", "“", "``", "”", "''", "†", `$\dagger$`, "‡", `$\ddagger$`,
)

var subscripted = regexp.MustCompile(`\b([A-Z])_([A-Za-z])\b`)

// latex escapes a text and sets E_M as usual in the literature.
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

// Compact leaves out intervals, footnotes and the legend, for a paper with
// little room. Its caption states that the numbers are means.
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

// WriteLaTeX renders a booktabs table for a paper of two columns; it needs
// \usepackage{booktabs}. It uses the first sufficient layout: one column
// (table) or both (table*), a smaller font, and text in lines (p columns). A
// table too large for a page is continued in further floats, with the first
// columns or the head repeated. Legend and footnotes are under the last float.
func (t Table) WriteLaTeX(w io.Writer) error {
	l := t.latexLayout()
	var floats [][]string // lines
	for _, part := range l.parts {
		for _, rows := range l.pages(t, part) {
			floats = append(floats, t.latexFloat(l, part, rows, len(floats) == 0))
		}
	}
	var under []string
	if t.Legend != "" {
		under = append(under, latex(t.Legend)+`\par`)
	}
	for i, n := range t.Notes {
		under = append(under, fmt.Sprintf(`\textsuperscript{%s}~%s\par`, noteMark(i), latex(n)))
	}
	if len(under) > 0 {
		last := len(floats) - 1
		floats[last] = append(append(floats[last], `\par\smallskip\footnotesize\raggedright`), under...)
	}
	var b strings.Builder
	for _, lines := range floats {
		fmt.Fprintf(&b, "\\begin{%s}\n%s\n\\end{%s}\n", l.environment, strings.Join(lines, "\n"), l.environment)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// latexFloat is one float: some columns of some rows.
func (t Table) latexFloat(l latexLayout, part []latexColumn, rows []int, first bool) []string {
	title, label := latex(t.Title), fmt.Sprintf("\\label{tab:%s}", t.Name)
	if !first {
		title, label = title+" (continued)", `\addtocounter{table}{-1}`
	}
	var spec strings.Builder
	for _, c := range part {
		switch {
		case c.wrap:
			fmt.Fprintf(&spec, `p{%.3f\linewidth}`, math.Floor(1000*c.width/l.width)/1000)
		case c.number:
			spec.WriteByte('r')
		default:
			spec.WriteByte('l')
		}
	}
	lines := []string{
		`\centering`, l.size.command, fmt.Sprintf(`\setlength{\tabcolsep}{%gpt}`, columnGap/2),
		fmt.Sprintf(`\caption{%s}%s\smallskip`, title, label), fmt.Sprintf(`\begin{tabular}{@{}%s@{}}`, spec.String()),
		`\toprule`,
	}
	lines = append(lines, t.latexGroups(l, part)...)
	var heads []string
	for _, c := range part {
		heads = append(heads, l.size.stack(t.Header[c.index], c.width, c.number))
	}
	lines = append(lines, strings.Join(heads, " & ")+` \tabularnewline`, `\midrule`)
	for k, i := range rows {
		row := t.Rows[i]
		if k > 0 && len(row) > 0 && row[0].Separator {
			lines = append(lines, `\midrule`)
		}
		var cells []string
		for _, c := range part {
			if c.index >= len(row) {
				cells = append(cells, "")
				continue
			}
			cell := row[c.index]
			s := latex(cell.Text)
			if cell.Above {
				s = `\underline{` + s + "}"
			}
			if cell.Best {
				s = `\textbf{` + s + "}"
			}
			if len(cell.Notes) > 0 {
				s += `\textsuperscript{` + marks(cell.Notes) + "}"
			}
			if c.wrap {
				s = `\raggedright\hspace{0pt}` + s
			}
			cells = append(cells, s)
		}
		lines = append(lines, strings.Join(cells, " & ")+` \tabularnewline`)
	}
	return append(lines, `\bottomrule`, `\end{tabular}`)
}

// latexGroups writes the headings over several columns, as far as these are in
// the float.
func (t Table) latexGroups(l latexLayout, part []latexColumn) []string {
	if len(t.Groups) == 0 {
		return nil
	}
	var heads, rules []string
	for at := 0; at < len(part); {
		g, span, width := t.group(part[at].index), 1, part[at].width
		for at+span < len(part) && t.group(part[at+span].index) == g {
			width += part[at+span].width + columnGap
			span++
		}
		if title := t.Groups[g].Title; title == "" {
			heads = append(heads, strings.Repeat(" & ", span-1))
		} else {
			heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, span, l.size.stack(title, width, false)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at+1, at+span))
		}
		at += span
	}
	return []string{strings.Join(heads, " & ") + ` \tabularnewline`, strings.Join(rules, "")}
}
