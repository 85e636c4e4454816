package tables

import (
	"fmt"
	"io"
	"slices"
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

const (
	pageLines = 46 // of a float
	between   = 3  // letters between columns
)

// texTable is a table with the room of its columns, in letters.
type texTable struct {
	Table
	float
	room   []int  // of a column: its longest text that is not set in lines, or word of its heading
	wraps  []bool // its texts are set in lines
	number []bool // it holds numbers, which are set to the right
	above  int    // lines of a float above its rows
}

func (t Table) tex() texTable {
	x := texTable{Table: t, float: float{96, 34, "table*"}}
	if t.Narrow {
		x.float = float{45, 13, "table"}
	}
	tallest := 0
	for j, heading := range t.Header {
		longest, word, number := 0, 0, len(t.Rows) > 0
		for _, row := range t.Rows {
			if j >= len(row) {
				continue
			}
			text := row[j].Text
			longest = max(longest, utf8.RuneCountInString(text)+len(row[j].Notes))
			word = max(word, longestWord(text)+len(row[j].Notes))
			number = number && (text == "" || text == NotMeasured || text == "undefined" ||
				strings.ContainsAny(text[:1], "0123456789+-−<>≤≥"))
		}
		least := longestWord(heading)
		if len(t.Groups) > 0 {
			least = max(least, longestWord(t.Groups[t.group(j)].Title))
		}
		room := max(min(longest, max(x.text, word)), least)
		x.room, x.wraps = append(x.room, room), append(x.wraps, max(longest, least) > room)
		x.number = append(x.number, number)
		tallest = max(tallest, len(wrapped(heading, room)))
	}
	x.above = 2 + 2*len(wrapped(t.Title+" (continued)", x.line)) + tallest
	if len(t.Groups) > 0 {
		x.above += 2
	}
	return x
}

// WriteLaTeX renders a booktabs table across both columns of a paper or, if it
// is Narrow, in one; it needs \usepackage{booktabs,graphicx,array}. Text is
// \footnotesize and shrunk only where a line would not hold it. A table too large
// for a page is continued under the same number, with the first columns or the
// head repeated. Legend and footnotes are at the end.
func (t Table) WriteLaTeX(w io.Writer) error {
	x := t.tex()
	var floats [][]string // lines
	used := 0             // by the last
	for _, part := range x.parts() {
		begin := func() {
			floats, used = append(floats, append(x.caption(len(floats) == 0), x.head(part)...)), x.above
		}
		end := func() { last := &floats[len(floats)-1]; *last = append(*last, `\bottomrule`, `\end{tabular}}`) }
		begin()
		for i := range t.Rows {
			n := x.lines(part, i)
			if used > x.above && used+n > pageLines {
				end()
				begin()
			}
			last := &floats[len(floats)-1]
			if used > x.above && len(t.Rows[i]) > 0 && t.Rows[i][0].Separator {
				*last = append(*last, `\midrule`)
			}
			*last, used = append(*last, x.row(part, i)), used+n
		}
		end()
	}
	begun := false // the text under the table in this float
	under := func(mark, text string) {
		n := len(wrapped(text, x.line))
		if used += n; used > pageLines {
			floats, used, begun = append(floats, x.caption(false)), x.above+n, false
		}
		last := &floats[len(floats)-1]
		if !begun {
			*last, begun = append(*last, `\par\smallskip\raggedright`), true
		}
		*last = append(*last, mark+latex(text)+`\par`)
	}
	if t.Legend != "" {
		under("", t.Legend)
	}
	for i, n := range t.Notes {
		under(`\textsuperscript{`+noteMark(i)+`}~`, n)
	}
	var b strings.Builder
	for _, lines := range floats {
		fmt.Fprintf(&b, "\\begin{%s}\n%s\n\\end{%[1]s}\n", x.environment, strings.Join(lines, "\n"))
	}
	_, err := io.WriteString(w, b.String())
	return err
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

// width is the room of some columns with the space after each.
func (x texTable) width(columns ...int) (used int) {
	for _, j := range columns {
		used += x.room[j] + between
	}
	return used
}

// parts divides columns among floats; the first ones, which name a row, are in
// each, as far as they leave room.
func (x texTable) parts() [][]int {
	var all []int
	for j := range x.Header {
		all = append(all, j)
	}
	heads := min(x.heads(), len(all))
	for heads > 1 && x.width(all[:heads]...) > x.line*3/4 {
		heads--
	}
	parts := [][]int{nil}
	for _, j := range all {
		last := &parts[len(parts)-1]
		if j > heads && len(*last) > heads && x.width(*last...)+x.width(j) > x.line {
			parts = append(parts, slices.Clone(all[:heads]))
			last = &parts[len(parts)-1]
		}
		*last = append(*last, j)
	}
	return parts
}

// lines are those that a row takes.
func (x texTable) lines(part []int, i int) int {
	most := 1
	for _, j := range part {
		if j < len(x.Rows[i]) {
			most = max(most, len(wrapped(x.Rows[i][j].Text, x.room[j])))
		}
	}
	return most
}

// caption begins a float.
func (x texTable) caption(first bool) []string {
	title, label, number := latex(x.Title), fmt.Sprintf("\\label{tab:%s}", x.Name), ""
	if !first { // before the caption, which counts
		title, label, number = title+" (continued)", "", `\addtocounter{table}{-1}`
	}
	return []string{`\centering\footnotesize` + number, fmt.Sprintf(`\caption{%s}%s\smallskip`, title, label)}
}

// head begins the tabular of some columns.
func (x texTable) head(part []int) []string {
	var spec strings.Builder
	var heads []string
	for _, j := range part {
		align := "l"
		if x.number[j] {
			align = "r"
		}
		lines := wrapped(x.Header[j], x.room[j])
		for i := range lines {
			lines[i] = latex(lines[i])
		}
		head := strings.Join(lines, `\\`)
		if len(lines) > 1 {
			head = fmt.Sprintf(`\shortstack[%s]{%s}`, align, head)
		}
		heads = append(heads, head)
		if x.wraps[j] {
			align = fmt.Sprintf(`>{\raggedright\arraybackslash}p{%.1fem}`, float64(x.room[j])/2+0.3)
		}
		spec.WriteString(align)
	}
	out := append([]string{`\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%`,
		fmt.Sprintf(`\begin{tabular}{@{}%s@{}}`, spec.String()), `\toprule`}, x.groups(part)...)
	return append(out, strings.Join(heads, " & ")+` \tabularnewline`, `\midrule`)
}

// row is one line of the tabular.
func (x texTable) row(part []int, i int) string {
	cells := make([]string, len(part))
	for k, j := range part {
		if j >= len(x.Rows[i]) {
			continue
		}
		c := x.Rows[i][j]
		cells[k] = latex(c.Text)
		if c.Above {
			cells[k] = `\underline{` + cells[k] + "}"
		}
		if c.Best {
			cells[k] = `\textbf{` + cells[k] + "}"
		}
		if len(c.Notes) > 0 {
			cells[k] += `\textsuperscript{` + marks(c.Notes) + "}"
		}
	}
	return strings.Join(cells, " & ") + ` \tabularnewline`
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

// groups writes the headings over several columns, as far as these are in the
// float.
func (x texTable) groups(part []int) []string {
	if len(x.Groups) == 0 {
		return nil
	}
	var heads, rules []string
	for at := 0; at < len(part); {
		g, span := x.group(part[at]), 1
		for at+span < len(part) && x.group(part[at+span]) == g {
			span++
		}
		if title := x.Groups[g].Title; title == "" {
			heads = append(heads, strings.Repeat(" & ", span-1))
		} else {
			align, room := "c", x.width(part[at:at+span]...)-between
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
