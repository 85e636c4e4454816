package tables

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"mldpbench/internal/list"
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

// texColumn is a column with its room in letters: its longest text that is not
// set in lines, or word of its heading.
type texColumn struct {
	room   int
	wraps  bool // its texts are set in lines
	number bool // it holds numbers, which are set to the right
}

// texTable is a table, or some columns of one, with their room.
type texTable struct {
	Table
	float
	columns []texColumn
}

func (t Table) tex() texTable {
	x := texTable{Table: t, float: float{96, 34, "table*"}}
	if t.Narrow {
		x.float = float{45, 13, "table"}
	}
	for j, heading := range t.Header {
		longest, word, number := 0, 0, len(t.Rows) > 0
		for _, row := range t.Rows {
			text := row[j].Text
			longest = max(longest, utf8.RuneCountInString(text)+len(row[j].Notes))
			word = max(word, longestWord(text)+len(row[j].Notes))
			number = number && (text == "" || text == NotMeasured || text == "undefined" ||
				strings.ContainsAny(text[:1], "0123456789+-−<>≤≥"))
		}
		least := max(longestWord(heading), longestWord(t.group(j)))
		room := max(min(longest, max(x.text, word)), least)
		x.columns = append(x.columns, texColumn{room, max(longest, least) > room, number})
	}
	return x
}

// above is how many lines of a float are above its rows.
func (x texTable) above() int {
	tallest := 0
	for j, heading := range x.Header {
		tallest = max(tallest, len(wrapped(heading, x.columns[j].room)))
	}
	if len(x.Groups) > 0 {
		tallest += 2
	}
	return 2 + 2*len(wrapped(x.Title+" (continued)", x.line)) + tallest
}

// WriteLaTeX renders a booktabs table across both columns of a paper or, if it
// is Narrow, in one; it needs \usepackage{booktabs,graphicx,array}. Text is
// \footnotesize and shrunk only where a line would not hold it. A table too large
// for a page is continued under the same number, with the first columns or the
// head repeated. Legend and footnotes are at the end.
func (t Table) WriteLaTeX(w io.Writer) error {
	x := t.tex()
	var floats [][]string // lines
	used, above := 0, x.above()
	begin := func(head ...string) {
		floats, used = append(floats, append(x.caption(len(floats) == 0), head...)), above
	}
	write := func(lines ...string) { last := &floats[len(floats)-1]; *last = append(*last, lines...) }
	for _, part := range x.parts() {
		begin(part.head()...)
		for i, row := range part.Rows {
			n := part.lines(row)
			if used > above && used+n > pageLines {
				write(tableEnd...)
				begin(part.head()...)
			}
			if used > above && t.Rows[i][0].Separator {
				write(`\midrule`)
			}
			write(part.row(row))
			used += n
		}
		write(tableEnd...)
	}
	begun := false // the text under the table in this float
	under := func(mark, text string) {
		n := len(wrapped(text, x.line))
		if used += n; used > pageLines {
			begin()
			used, begun = used+n, false
		}
		if !begun {
			begun = true
			write(`\par\smallskip\raggedright`)
		}
		write(mark + latex(text) + `\par`)
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

var tableEnd = []string{`\bottomrule`, `\end{tabular}}`}

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
func (x texTable) width(columns []int) (used int) {
	for _, j := range columns {
		used += x.columns[j].room + between
	}
	return used
}

// parts divides columns among floats; the first ones, which name a row, are in
// each, as far as they leave room.
func (x texTable) parts() (parts []texTable) {
	var heads, columns []int
	for j := range min(x.heads(), len(x.Header)) {
		if heads = append(heads, j); j > 0 && x.width(heads) > x.line*3/4 {
			heads = heads[:j]
			break
		}
	}
	end := func() {
		part := texTable{Table: x.only(x.Rows, columns), float: x.float}
		for _, j := range columns {
			part.columns = append(part.columns, x.columns[j])
		}
		parts = append(parts, part)
	}
	for j := range x.Header {
		if j > len(heads) && len(columns) > len(heads) && x.width(append(columns, j)) > x.line {
			end()
			columns = slices.Clone(heads)
		}
		columns = append(columns, j)
	}
	end()
	return parts
}

// lines are those that a row takes.
func (x texTable) lines(row []TableCell) int {
	most := 1
	for j, c := range row {
		most = max(most, len(wrapped(c.Text, x.columns[j].room)))
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

// head begins the tabular.
func (x texTable) head() []string {
	var spec strings.Builder
	var heads []string
	for j, c := range x.columns {
		align := "l"
		if c.number {
			align = "r"
		}
		lines := list.Map(wrapped(x.Header[j], c.room), latex)
		head := strings.Join(lines, `\\`)
		if len(lines) > 1 {
			head = fmt.Sprintf(`\shortstack[%s]{%s}`, align, head)
		}
		heads = append(heads, head)
		if c.wraps {
			align = fmt.Sprintf(`>{\raggedright\arraybackslash}p{%.1fem}`, float64(c.room)/2+0.3)
		}
		spec.WriteString(align)
	}
	out := append([]string{`\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%`,
		fmt.Sprintf(`\begin{tabular}{@{}%s@{}}`, spec.String()), `\toprule`}, x.groups()...)
	return append(out, strings.Join(heads, " & ")+` \tabularnewline`, `\midrule`)
}

// row is one line of the tabular.
func (x texTable) row(row []TableCell) string {
	return strings.Join(list.Map(row, func(c TableCell) string {
		text := latex(c.Text)
		if c.Above {
			text = `\underline{` + text + "}"
		}
		if c.Best {
			text = `\textbf{` + text + "}"
		}
		if len(c.Notes) > 0 {
			text += `\textsuperscript{` + marks(c.Notes) + "}"
		}
		return text
	}), " & ") + ` \tabularnewline`
}

// groups writes the headings over several columns.
func (x texTable) groups() []string {
	if len(x.Groups) == 0 {
		return nil
	}
	var heads, rules []string
	at := 0
	for _, g := range x.Groups {
		if g.Title == "" {
			heads = append(heads, strings.Repeat(" & ", g.Span-1))
		} else {
			align, room := "c", -between
			for _, c := range x.columns[at : at+g.Span] {
				room += c.room + between
			}
			if utf8.RuneCountInString(g.Title) > room {
				align = fmt.Sprintf(`>{\centering\arraybackslash}p{%.1fem}`, float64(room)/2)
			}
			heads = append(heads, fmt.Sprintf(`\multicolumn{%d}{%s}{%s}`, g.Span, align, latex(g.Title)))
			rules = append(rules, fmt.Sprintf(`\cmidrule(lr){%d-%d}`, at+1, at+g.Span))
		}
		at += g.Span
	}
	return []string{strings.Join(heads, " & ") + ` \tabularnewline`, strings.Join(rules, "")}
}
