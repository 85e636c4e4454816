package tables

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

// Limits of one float: columns are added while they are estimated to fit a line
// of a page at \footnotesize, rows as fit its height.
const (
	lineLetters = 120
	textLetters = 46 // a longer text is set in lines
	pageRows    = 44
)

// WriteLaTeX renders a booktabs table across both columns of a paper; it needs
// \usepackage{booktabs,graphicx,array}. Text is \footnotesize and shrunk only where a
// line would not hold it. A table too large for a page is continued under the
// same number, with the first columns or the head repeated. Legend and
// footnotes are under the last float.
func (t Table) WriteLaTeX(w io.Writer) error {
	var floats [][]string // lines
	for _, part := range t.latexParts() {
		for _, rows := range t.latexPages(part) {
			floats = append(floats, t.latexFloat(part, rows, len(floats) == 0))
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
		floats[last] = append(append(floats[last], `\par\smallskip\raggedright`), under...)
	}
	var b strings.Builder
	for _, lines := range floats {
		fmt.Fprintf(&b, "\\begin{table*}\n%s\n\\end{table*}\n", strings.Join(lines, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// letters estimates the width of a column: its longest text.
func (t Table) letters(j int) (most int) {
	for word := range strings.FieldsSeq(t.Header[j]) {
		most = max(most, utf8.RuneCountInString(word))
	}
	for _, row := range t.Rows {
		if j < len(row) {
			most = max(most, utf8.RuneCountInString(row[j].Text)+len(row[j].Notes))
		}
	}
	return most + 2
}

// latexParts divides columns among floats; the first ones, which name a row, are
// in each.
func (t Table) latexParts() [][]int {
	heads := 1
	if len(t.Groups) > 0 && t.Groups[0].Title == "" {
		heads = t.Groups[0].Span
	}
	var parts [][]int
	used := 0
	for j := range t.Header {
		width := min(t.letters(j), textLetters)
		if n := len(parts); n == 0 || used+width > lineLetters && j > heads && len(parts[n-1]) > heads {
			used = 0
			var part []int
			for h := range min(heads, j) {
				part, used = append(part, h), used+min(t.letters(h), textLetters)
			}
			parts = append(parts, part)
		}
		parts[len(parts)-1], used = append(parts[len(parts)-1], j), used+width
	}
	return parts
}

// latexPages divides rows among floats by the lines that they take.
func (t Table) latexPages(part []int) [][]int {
	pages := [][]int{nil}
	used := 0
	for i, row := range t.Rows {
		lines := 1
		for _, j := range part {
			if j < len(row) {
				lines = max(lines, (utf8.RuneCountInString(row[j].Text)+textLetters-3)/(textLetters-2))
			}
		}
		if used+lines > pageRows && used > 0 {
			pages, used = append(pages, nil), 0
		}
		pages[len(pages)-1], used = append(pages[len(pages)-1], i), used+lines
	}
	return pages
}

// number reports whether a column holds numbers, which are set to the right.
func (t Table) number(j int) bool {
	for _, row := range t.Rows {
		if j < len(row) && row[j].Text != "" && row[j].Text != NotMeasured && row[j].Text != "undefined" &&
			!strings.ContainsAny(row[j].Text[:1], "0123456789+-−<>≤≥") {
			return false
		}
	}
	return len(t.Rows) > 0
}

// latexFloat is one float: some columns of some rows.
func (t Table) latexFloat(part, rows []int, first bool) []string {
	title, label, number := latex(t.Title), fmt.Sprintf("\\label{tab:%s}", t.Name), ""
	if !first { // before the caption, which counts
		title, label, number = title+" (continued)", "", `\addtocounter{table}{-1}`
	}
	var spec strings.Builder
	for _, j := range part {
		switch {
		case t.letters(j) > textLetters:
			spec.WriteString(`>{\raggedright\arraybackslash}p{0.3\linewidth}`)
		case t.number(j):
			spec.WriteByte('r')
		default:
			spec.WriteByte('l')
		}
	}
	lines := []string{`\centering\footnotesize` + number, fmt.Sprintf(`\caption{%s}%s\smallskip`, title, label),
		`\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%`,
		fmt.Sprintf(`\begin{tabular}{@{}%s@{}}`, spec.String()), `\toprule`}
	lines = append(lines, t.latexGroups(part)...)
	var heads []string
	for _, j := range part {
		heads = append(heads, latex(t.Header[j]))
	}
	lines = append(lines, strings.Join(heads, " & ")+` \tabularnewline`, `\midrule`)
	for k, i := range rows {
		row := t.Rows[i]
		if k > 0 && len(row) > 0 && row[0].Separator {
			lines = append(lines, `\midrule`)
		}
		var cells []string
		for _, j := range part {
			if j < len(row) {
				cells = append(cells, row[j].latex())
			} else {
				cells = append(cells, "")
			}
		}
		lines = append(lines, strings.Join(cells, " & ")+` \tabularnewline`)
	}
	return append(lines, `\bottomrule`, `\end{tabular}}`)
}

func (c TableCell) latex() string {
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
	return s
}

// latexGroups writes the headings over several columns, as far as these are in
// the float.
func (t Table) latexGroups(part []int) []string {
	if len(t.Groups) == 0 {
		return nil
	}
	group := func(j int) int {
		for g := range t.Groups {
			if j -= t.Groups[g].Span; j < 0 {
				return g
			}
		}
		return len(t.Groups) - 1
	}
	var heads, rules []string
	for at := 0; at < len(part); {
		g, span := group(part[at]), 1
		for at+span < len(part) && group(part[at+span]) == g {
			span++
		}
		if title := t.Groups[g].Title; title == "" {
			heads = append(heads, strings.Repeat(" & ", span-1))
		} else {
			heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{c}{%s}`, span, latex(title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at+1, at+span))
		}
		at += span
	}
	return []string{strings.Join(heads, " & ") + ` \tabularnewline`, strings.Join(rules, "")}
}
