package tables

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mldpbench/results"
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

// latex escapes a text and sets E_M as usual in the literature.
func latex(s string) string {
	var b strings.Builder
	at := 0
	for _, m := range results.Subscripted.FindAllStringSubmatchIndex(s, -1) {
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

// float is the room of one, in letters of \footnotesize, each half an em: a
// line, the longest text that is not set in lines, and the environment. ACL has
// the narrowest of the styles that we know.
type float struct {
	line, text  int
	environment string
}

var (
	bothColumns = float{96, 34, "table*"}
	oneColumn   = float{45, 13, "table"}
)

const (
	pageLines = 46 // of a float
	between   = 3  // letters between columns
)

func (t Table) float() float {
	if t.Narrow {
		return oneColumn
	}
	return bothColumns
}

// WriteLaTeX renders a booktabs table across both columns of a paper or, if it
// is Narrow, in one; it needs \usepackage{booktabs,graphicx,array}. Text is
// \footnotesize and shrunk only where a line would not hold it. A table too large
// for a page is continued under the same number, with the first columns or the
// head repeated. Legend and footnotes are at the end.
func (t Table) WriteLaTeX(w io.Writer) error {
	c := t.float()
	widths := make([][2]int, len(t.Header))
	for j := range widths {
		widths[j][0], widths[j][1] = t.width(j)
	}
	t.widths = widths
	var floats [][]string // lines
	used := 0             // by the last
	for _, part := range t.latexParts() {
		for _, rows := range t.latexPages(part) {
			floats = append(floats, t.latexFloat(part, rows, len(floats) == 0))
			used = t.headLines()
			for _, i := range rows {
				used += t.rowLines(part, i)
			}
		}
	}
	var under []string
	if t.Legend != "" {
		under = append(under, t.Legend)
	}
	for i, n := range t.Notes {
		under = append(under, noteMark(i)+"\x00"+n)
	}
	for i, text := range under {
		used += len(wrapped(text, c.line))
		if used > pageLines {
			floats, used = append(floats, t.latexHead(false)), t.headLines()+len(wrapped(text, c.line))
		}
		last := len(floats) - 1
		if i == 0 || used == t.headLines()+len(wrapped(text, c.line)) {
			floats[last] = append(floats[last], `\par\smallskip\raggedright`)
		}
		if mark, note, ok := strings.Cut(text, "\x00"); ok {
			text = fmt.Sprintf(`\textsuperscript{%s}~%s\par`, mark, latex(note))
		} else {
			text = latex(text) + `\par`
		}
		floats[last] = append(floats[last], text)
	}
	var b strings.Builder
	for _, lines := range floats {
		fmt.Fprintf(&b, "\\begin{%s}\n%s\n\\end{%[1]s}\n", c.environment, strings.Join(lines, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// width is the room of a column: its longest text, as far as that is not set in
// lines, and the longest word of its headings; natural is that without lines.
func (t Table) width(j int) (set, natural int) {
	if j < len(t.widths) {
		return t.widths[j][0], t.widths[j][1]
	}
	longest := 0 // word
	for _, row := range t.Rows {
		if j < len(row) {
			natural = max(natural, utf8.RuneCountInString(row[j].Text)+len(row[j].Notes))
			longest = max(longest, longestWord(row[j].Text)+len(row[j].Notes))
		}
	}
	head := longestWord(t.Header[j])
	if len(t.Groups) > 0 {
		head = max(head, longestWord(t.Groups[t.group(j)].Title))
	}
	set, natural = max(min(natural, max(t.float().text, longest)), head), max(natural, head)
	return set, natural
}

func longestWord(text string) (most int) {
	for word := range strings.FieldsSeq(text) {
		most = max(most, utf8.RuneCountInString(word))
	}
	return most
}

// wrapped sets a text in lines of so many letters; a longer word has its own.
func wrapped(text string, letters int) (out []string) {
	for word := range strings.FieldsSeq(text) {
		if n := len(out); n > 0 && utf8.RuneCountInString(out[n-1]+" "+word) <= letters {
			out[n-1] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return out
}

// latexParts divides columns among floats; the first ones, which name a row, are
// in each.
func (t Table) latexParts() [][]int {
	c, heads := t.float(), t.heads()
	width := func(j int) int { set, _ := t.width(j); return set + between }
	for room := c.line * 3 / 4; heads > 1 && heads <= len(t.Header); heads-- {
		used := 0
		for j := range heads {
			used += width(j)
		}
		if used <= room {
			break
		}
	}
	var parts [][]int
	used := 0
	for j := range t.Header {
		if n := len(parts); n == 0 || used+width(j) > c.line && j > heads && len(parts[n-1]) > heads {
			used = 0
			var part []int
			for h := range min(heads, j) {
				part, used = append(part, h), used+width(h)
			}
			parts = append(parts, part)
		}
		parts[len(parts)-1], used = append(parts[len(parts)-1], j), used+width(j)
	}
	return parts
}

// headLines are those that a float has above its rows.
func (t Table) headLines() int {
	head, most := 2+2*len(wrapped(t.Title+" (continued)", t.float().line)), 0
	for j := range t.Header {
		set, _ := t.width(j)
		most = max(most, len(wrapped(t.Header[j], set)))
	}
	if len(t.Groups) > 0 {
		head += 2
	}
	return head + most
}

// rowLines are those that a row takes.
func (t Table) rowLines(part []int, i int) int {
	most := 1
	for _, j := range part {
		if j < len(t.Rows[i]) {
			width, _ := t.width(j)
			most = max(most, len(wrapped(t.Rows[i][j].Text, width)))
		}
	}
	return most
}

// latexPages divides rows among floats by the lines that they take.
func (t Table) latexPages(part []int) [][]int {
	pages := [][]int{nil}
	used := t.headLines()
	for i := range t.Rows {
		n := t.rowLines(part, i)
		if used+n > pageLines && len(pages[len(pages)-1]) > 0 {
			pages, used = append(pages, nil), t.headLines()
		}
		pages[len(pages)-1], used = append(pages[len(pages)-1], i), used+n
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

// latexHead begins a float.
func (t Table) latexHead(first bool) []string {
	title, label, number := latex(t.Title), fmt.Sprintf("\\label{tab:%s}", t.Name), ""
	if !first { // before the caption, which counts
		title, label, number = title+" (continued)", "", `\addtocounter{table}{-1}`
	}
	return []string{`\centering\footnotesize` + number, fmt.Sprintf(`\caption{%s}%s\smallskip`, title, label)}
}

// latexFloat is one float: some columns of some rows.
func (t Table) latexFloat(part, rows []int, first bool) []string {
	var spec strings.Builder
	for _, j := range part {
		switch set, natural := t.width(j); {
		case natural > set:
			fmt.Fprintf(&spec, `>{\raggedright\arraybackslash}p{%.1fem}`, float64(set)/2+0.3)
		case t.number(j):
			spec.WriteByte('r')
		default:
			spec.WriteByte('l')
		}
	}
	lines := append(t.latexHead(first),
		`\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%`,
		fmt.Sprintf(`\begin{tabular}{@{}%s@{}}`, spec.String()), `\toprule`)
	lines = append(lines, t.latexGroups(part)...)
	var heads []string
	for _, j := range part {
		set, _ := t.width(j)
		head := latex(t.Header[j])
		if parts := wrapped(t.Header[j], set); len(parts) > 1 {
			for i := range parts {
				parts[i] = latex(parts[i])
			}
			head = fmt.Sprintf(`\shortstack[%s]{%s}`, map[bool]string{true: "r", false: "l"}[t.number(j)],
				strings.Join(parts, `\\`))
		}
		heads = append(heads, head)
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

// group is the number of the heading over a column.
func (t Table) group(j int) int {
	for g := range t.Groups {
		if j -= t.Groups[g].Span; j < 0 {
			return g
		}
	}
	return len(t.Groups) - 1
}

// latexGroups writes the headings over several columns, as far as these are in
// the float.
func (t Table) latexGroups(part []int) []string {
	if len(t.Groups) == 0 {
		return nil
	}
	var heads, rules []string
	for at := 0; at < len(part); {
		g, span := t.group(part[at]), 1
		for at+span < len(part) && t.group(part[at+span]) == g {
			span++
		}
		if title := t.Groups[g].Title; title == "" {
			heads = append(heads, strings.Repeat(" & ", span-1))
		} else {
			align, room := "c", -between
			for _, j := range part[at : at+span] {
				set, _ := t.width(j)
				room += set + between
			}
			if utf8.RuneCountInString(title) > room {
				align = fmt.Sprintf(`>{\centering\arraybackslash}p{%.1fem}`, float64(room)/2)
			}
			heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{%s}{%s}`, span, align, latex(title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at+1, at+span))
		}
		at += span
	}
	return []string{strings.Join(heads, " & ") + ` \tabularnewline`, strings.Join(rules, "")}
}
