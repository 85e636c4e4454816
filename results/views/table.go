package views

import (
	"cmp"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results"
)

// Cell is one cell of a table.
type Cell struct {
	Text      string
	Value     any              // what the text is of: a number, say; nil for the text itself
	Low, High results.Optional // its interval, if it has one
	Best      bool             // significantly different from all others
	Tied      bool             // the best, or not significantly different from it
	Own       bool             // names a mechanism of the user
	Notes     []int
}

// Table is a table that can be written in any of Formats.
type Table struct {
	Name   string // file name without extension
	Title  string
	Header []string
	Rows   [][]Cell
	Notes  []string // footnotes
	Legend string   // explanation of the numbers, below the table
	Width  int      // of a table that is read, at most, in characters; 0: any
	heads  int      // columns that name a row
}

// AddRow appends a row of plain texts.
func (t *Table) AddRow(texts ...string) {
	t.Rows = append(t.Rows, list.Map(texts, func(s string) Cell { return Cell{Text: s} }))
}

// Note returns the number of a footnote, adding it if it is new.
func (t *Table) Note(text string) int {
	if i := slices.Index(t.Notes, text); i >= 0 {
		return i
	}
	t.Notes = append(t.Notes, text)
	return len(t.Notes) - 1
}

// NotMeasured stands for a number that was not measured.
const NotMeasured = "–"

// Number formats a number with so many digits after the point; NaN is not measured.
func Number(v float64, digits int) string { return written(v, 'f', digits) }

// Short formats a number with up to four significant digits.
func Short(v float64) string { return written(v, 'g', 4) }

func written(v float64, format byte, digits int) string {
	if math.IsNaN(v) {
		return NotMeasured
	}
	return strconv.FormatFloat(v, format, digits, 64)
}

// within writes a value ± half the width of its interval, if it has one: the one
// form of a number in tables and on pages. A value that is an end of its interval,
// such as 100%, has the two ends beside it.
func within(value, low, high float64, digits int) string {
	text := Number(value, digits)
	switch half := (high - low) / 2; {
	case !(half > 0) || math.IsInf(half, 0):
	case value <= low || value >= high:
		text += " (" + Number(low, digits) + "–" + Number(high, digits) + ")"
	default:
		text += " ± " + Number(half, digits)
	}
	return text
}

// Thousands formats 808382 as 808,382.
func Thousands(n int) string { return message.NewPrinter(language.English).Sprint(n) }

// unfit is what no name of a file has.
var unfit = regexp.MustCompile(`[^a-z0-9.]+`)

// slug makes a file name of the parts of a name.
func slug(parts ...string) string {
	return strings.Trim(unfit.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-"), "-.")
}

// Marks are those of footnotes: a, b, …, z, aa, ab, …
func Marks(notes ...int) string {
	marks := list.Map(slices.Compact(slices.Sorted(slices.Values(notes))), table.AutoIndexColumnID)
	return strings.ToLower(strings.Join(marks, ","))
}

// markup is how a format writes what a cell is; each but the first has one %s.
type markup struct {
	escape                func(string) string
	own, tied, best, note string
}

// cell is a cell as the format writes it.
func (m markup) cell(c Cell) string {
	s := m.escape(c.Text)
	if c.Own {
		s = fmt.Sprintf(m.own, s)
	}
	if c.Tied {
		s = fmt.Sprintf(m.tied, s)
	}
	if c.Best {
		s = fmt.Sprintf(m.best, s)
	}
	if len(c.Notes) > 0 {
		s += fmt.Sprintf(m.note, Marks(c.Notes...))
	}
	return s
}

// Formats are the file extensions of tables.
var Formats = []string{"md", "tex", "csv"}

// Write renders the table in one of Formats.
func (t Table) Write(w io.Writer, format string) error {
	switch format {
	case "md":
		return t.layOut(w, format, inMarkdown)
	case "tex":
		return t.layOut(w, format, inLaTeX)
	case "csv":
		return t.writeCSV(w)
	}
	return check.OneOf("format", format, Formats...)
}

// Save writes tables to dir in some formats and returns the paths.
func Save(dir string, all []Table, formats []string) (paths []string, err error) {
	for _, t := range all {
		for _, format := range formats {
			path := dir + "/" + t.Name + "." + format
			if err = atomicfile.Write(path, 0o644, func(w io.Writer) error { return t.Write(w, format) }); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// libraryRow are texts as a row of the library.
func libraryRow(texts []string) table.Row { return list.Map(texts, func(s string) any { return s }) }

// inMarkdown keeps a text from starting markup and from ending its cell.
var inMarkdown = markup{strings.NewReplacer("*", `\*`, "<", "&lt;", "`", "\\`", "|", `\|`, "\n", " ").Replace,
	"_%s_", "<u>%s</u>", "**%s**", "<sup>%s</sup>"}

// layouts are those of Markdown and of LaTeX: a booktabs table that is never wider than its column, which
// needs \usepackage{booktabs,graphicx}. Which columns there are is the view's choice.
//
//go:embed layouts.tmpl
var layouts string

// layOut renders the table in one of layouts.
func (t Table) layOut(w io.Writer, layout string, m markup) error {
	heads := max(1, t.heads)
	long := func(r []Cell) bool { return len(r) == heads+1 && len(r[heads].Text) > 80 }
	return template.Must(template.New("").Delims("[[", "]]").Funcs(template.FuncMap{
		"escape": m.escape,
		"slug":   slug,
		"mark":   func(note int) string { return fmt.Sprintf(m.note, Marks(note)) },
		"head":   func(between string) string { return strings.Join(list.Map(t.Header, m.escape), between) },
		"row":    func(r []Cell, between string) string { return strings.Join(list.Map(r, m.cell), between) },
		"ishead": func(column int) bool { return column < heads },
		"long":   func() bool { return slices.ContainsFunc(t.Rows, long) }, // a column of texts
		"begins": func(row int) bool { return row > 0 && heads > 1 && t.Rows[row][0].Text != t.Rows[row-1][0].Text },
	}).Parse(layouts)).ExecuteTemplate(w, layout, t)
}

// writeCSV renders plain values; footnotes go to a last column.
func (t Table) writeCSV(w io.Writer) error {
	rows := [][]string{append(slices.Clone(t.Header), "notes")}
	for _, r := range t.Rows {
		notes := slices.Concat(list.Map(r, func(c Cell) []int { return c.Notes })...)
		texts := list.Map(slices.Compact(slices.Sorted(slices.Values(notes))), func(n int) string { return t.Notes[n] })
		rows = append(rows, append(list.Map(r, func(c Cell) string { return c.Text }), strings.Join(texts, "; ")))
	}
	return csv.NewWriter(w).WriteAll(list.Map(rows, func(r []string) []string { return list.Map(r, inert) }))
}

// ownNumber is a signed number as tables write it, with its interval.
var ownNumber = regexp.MustCompile(`^[-+][0-9.][-0-9.,±\[\]()–%e ]*$`)

// inert marks a cell that a spreadsheet would run as a formula as text.
func inert(cell string) string {
	if cell != "" && strings.IndexByte("=+-@\t\r", cell[0]) >= 0 && !ownNumber.MatchString(cell) {
		return "'" + cell
	}
	return cell
}

// inLaTeX also writes N_w as in the papers.
var inLaTeX = markup{func(s string) string {
	return subscript.ReplaceAllString(latexEscaper.Replace(s), `$$${1}_{\mathrm{${2}}}$$`)
}, `\emph{%s}`, `\underline{%s}`, `\textbf{%s}`, `\textsuperscript{%s}`}

var latexEscaper = strings.NewReplacer(`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`,
	"{", `\{`, "}", `\}`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
	"<", `\textless{}`, ">", `\textgreater{}`,
	"±", `$\pm$`, "≤", `$\leq$`, "≥", `$\geq$`, "×", `$\times$`, "·", `$\cdot$`, "−", "--", "–", "--", "†", `\dag{}`,
	"‡", `\ddag{}`, "’", "'", "…", `\dots{}`, "ε", `$\varepsilon$`, "δ", `$\delta$`, "γ", `$\gamma$`, "λ", `$\lambda$`,
	"β", `$\beta$`, "α", `$\alpha$`, "\n", " ")

// subscript is N_w as written by latexEscaper.
var subscript = regexp.MustCompile(`\b([A-Z])\\_([A-Za-z]+)\b`)

// shown has bold and underlined numbers on a terminal, * and ~ after them in a pipe.
func shown(width int) markup {
	m := markup{func(s string) string { return s }, "%s (yours)", "%s ~", "%s *", " [%s]"}
	if width > 0 {
		end := "%s" + text.Reset.EscapeSeq()
		m.tied = text.Underline.EscapeSeq() + end
		m.best = text.Bold.EscapeSeq() + end
	}
	return m
}

// Print writes the table for a reader, on a terminal of so many columns or in a pipe
// (0), where only the table's own width limits it. Columns that there is no room for are left out, which the last line
// says.
func (t Table) Print(w io.Writer, width int) error {
	narrow := cmp.Or(width, t.Width)
	rows := [][]string{t.Header}
	if t.Title == "" { // nothing else sets them apart
		rows[0] = list.Map(t.Header, strings.ToUpper)
	}
	rows = append(rows, list.Map(t.Rows, func(r []Cell) []string { return list.Map(r, shown(width).cell) })...)
	body, left := columns(rows, max(1, t.heads), narrow)
	below := list.Map(t.Notes, func(n string) string { return Marks(t.Note(n)) + "  " + n })
	if t.Legend != "" {
		below = append(below, t.Legend)
	}
	if len(left) > 0 {
		below = append(below, "No room for: "+strings.Join(left, ", ")+" (in a file or a pipe all are there).")
	}
	out := ""
	for line := range strings.Lines(text.WrapSoft(t.Title, cmp.Or(width, math.MaxInt16))) {
		line = strings.TrimSpace(line)
		if width > 0 {
			line = text.Bold.Sprint(line)
		}
		out += line + "\n"
	}
	out += body
	for _, line := range below {
		out += text.WrapSoft(line, cmp.Or(width, math.MaxInt16)) + "\n"
	}
	if t.Title != "" {
		out += "\n" // tables are separated
	}
	_, err := io.WriteString(w, out)
	return err
}

// columns aligns rows, of which the first is a head. On a terminal words are continued below, first those of the widest
// column, and then columns from the right on are left out, but not the first ones, which name a row.
func columns(rows [][]string, heads, width int) (body string, left []string) {
	widths := fitted(naturalWidths(rows), heads, width)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t := table.NewWriter()
	t.SetStyle(style)
	var configs []table.ColumnConfig
	for j, w := range widths {
		configs = append(configs, table.ColumnConfig{Number: j + 1, WidthMax: w, WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(configs)
	t.AppendHeader(libraryRow(rows[0][:len(widths)]))
	t.AppendRows(list.Map(rows[1:], func(r []string) table.Row { return libraryRow(r[:len(widths)]) }))
	t.SuppressTrailingSpaces()
	return t.Render() + "\n", rows[0][len(widths):]
}

// naturalWidths are those of columns whose words stand in one line.
func naturalWidths(rows [][]string) []int {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for j, c := range r {
			widths[j] = max(widths[j], text.StringWidthWithoutEscSequences(c))
		}
	}
	return widths
}

// fitted are the widths of the columns that a terminal of a width has room for; 0 is any width.
func fitted(widths []int, heads, width int) []int {
	const least = 18 // of a column of words
	for width > 0 {
		total := list.Sum(widths, func(w int) int { return w + 2 }) - 2
		widest := slices.Max(widths)
		switch {
		case total <= width:
			return widths
		case widest > least:
			widths[slices.Index(widths, widest)]-- // so wide columns become equally wide
		case len(widths) > heads+1:
			widths = widths[:len(widths)-1]
		default:
			return widths
		}
	}
	return widths
}
