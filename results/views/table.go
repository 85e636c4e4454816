package views

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
)

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Best  bool // told apart from all others
	Tied  bool // the best, or not told apart from it
	Own   bool // names a mechanism of the user
	Notes []int
}

// Table is a table that can be written in any of Formats.
type Table struct {
	Name   string // file name without extension
	Title  string
	Header []string
	Rows   [][]Cell
	Notes  []string // footnotes
	Legend string   // explanation of the numbers, below the table
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
func Number(v float64, digits int) string {
	if math.IsNaN(v) {
		return NotMeasured
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// Short formats a number with up to four significant digits.
func Short(v float64) string {
	if math.IsNaN(v) {
		return NotMeasured
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// Within writes a value ± half the width of its interval, if it has one: the one
// form of a number in tables and on pages. A value that is an end of its interval,
// such as 100%, has the two ends beside it.
func Within(value, low, high float64, digits int) string {
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
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// unfit is what no name of a file has.
var unfit = regexp.MustCompile(`[^a-z0-9.]+`)

// Slug makes a file name of the parts of a name.
func Slug(parts ...string) string {
	return strings.Trim(unfit.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-"), "-.")
}

// Marks are those of footnotes: a, b, …, z, aa, ab, …
func Marks(notes []int) string {
	var mark func(i int) string
	mark = func(i int) string {
		if i < 26 {
			return string(rune('a' + i))
		}
		return mark(i/26-1) + string(rune('a'+i%26))
	}
	return strings.Join(list.Map(slices.Compact(slices.Sorted(slices.Values(notes))), mark), ",")
}

// Formats are the file extensions of tables.
var Formats = []string{"md", "tex", "csv"}

// Write renders the table in one of Formats.
func (t Table) Write(w io.Writer, format string) error {
	switch format {
	case "md":
		return t.writeMarkdown(w)
	case "tex":
		return t.writeLaTeX(w)
	case "csv":
		return t.writeCSV(w)
	}
	return fmt.Errorf("format = %q: must be one of %q", format, Formats)
}

// Save writes tables to dir in some formats and returns the paths.
func Save(dir string, all []Table, formats []string) ([]string, error) {
	var paths []string
	for _, t := range all {
		for _, format := range formats {
			path := dir + "/" + t.Name + "." + format
			if err := atomicfile.Write(path, 0o644, func(w io.Writer) error { return t.Write(w, format) }); err != nil {
				return paths, err
			}
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// markdown keeps a text from starting markup. The library escapes what ends a cell.
var markdown = strings.NewReplacer("*", `\*`, "<", "&lt;", "`", "\\`", "\n", " ")

func (t Table) writeMarkdown(w io.Writer) error {
	out := table.NewWriter()
	row := func(cells []string) table.Row { return list.Map(cells, func(s string) any { return s }) }
	out.AppendHeader(row(list.Map(t.Header, markdown.Replace)))
	for _, r := range t.Rows {
		out.AppendRow(row(list.Map(r, func(c Cell) string {
			s := markdown.Replace(c.Text)
			if c.Own {
				s = "_" + s + "_"
			}
			if c.Tied {
				s = "<u>" + s + "</u>"
			}
			if c.Best {
				s = "**" + s + "**"
			}
			if len(c.Notes) > 0 {
				s += "<sup>" + Marks(c.Notes) + "</sup>"
			}
			return s
		})))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n\n", markdown.Replace(t.Title), out.RenderMarkdown())
	if t.Legend != "" {
		fmt.Fprintf(&b, "%s\n\n", markdown.Replace(t.Legend))
	}
	for i, n := range t.Notes {
		fmt.Fprintf(&b, "<sup>%s</sup> %s  \n", Marks([]int{i}), markdown.Replace(n))
	}
	if len(t.Notes) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCSV renders plain values; footnotes go to a last column.
func (t Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{append(slices.Clone(t.Header), "notes")}
	for _, r := range t.Rows {
		line := list.Map(r, func(c Cell) string { return c.Text })
		var notes []int
		for _, c := range r {
			notes = append(notes, c.Notes...)
		}
		texts := list.Map(slices.Compact(slices.Sorted(slices.Values(notes))), func(n int) string { return t.Notes[n] })
		rows = append(rows, append(line, strings.Join(texts, "; ")))
	}
	for _, row := range rows {
		if err := out.Write(list.Map(row, inert)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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

// Screen is where a table is shown: a terminal of so many columns, or a pipe (0).
type Screen struct{ Width int }

// Print writes the table for a reader: with bold and underlined numbers on a
// terminal, * and ~ after them in a pipe. Columns that a terminal has no room for
// are left out, which the last line says.
func (t Table) Print(w io.Writer, s Screen) error {
	rows := [][]string{t.Header}
	for _, r := range t.Rows {
		rows = append(rows, list.Map(r, func(c Cell) string { return c.printed(s) }))
	}
	body, left := s.Columns(rows, max(1, t.heads))
	var b strings.Builder
	if t.Title != "" {
		for line := range strings.Lines(s.wrapped(t.Title)) {
			b.WriteString(s.styled(text.Bold, strings.TrimSpace(line)) + "\n")
		}
	}
	b.WriteString(body)
	for i, n := range t.Notes {
		b.WriteString(s.wrapped(Marks([]int{i})+"  "+n) + "\n")
	}
	if t.Legend != "" {
		b.WriteString(s.wrapped(t.Legend) + "\n")
	}
	if len(left) > 0 {
		b.WriteString(s.wrapped("No room for: "+strings.Join(left, ", ")+" (in a file or a pipe all are there).") + "\n")
	}
	if t.Title != "" {
		b.WriteString("\n") // tables are separated
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Screen) styled(c text.Color, t string) string {
	if s.Width == 0 {
		return t
	}
	return text.Colors{c}.Sprint(t)
}

func (s Screen) wrapped(t string) string {
	if s.Width == 0 {
		return t
	}
	return text.WrapSoft(t, s.Width)
}

func (c Cell) printed(s Screen) string {
	out := c.Text
	switch {
	case s.Width > 0 && c.Best:
		out = text.Bold.Sprint(out)
	case s.Width > 0 && c.Tied:
		out = text.Underline.Sprint(out)
	case c.Best:
		out += " *"
	case c.Tied:
		out += " ~"
	}
	if c.Own {
		out += " (yours)"
	}
	if len(c.Notes) > 0 {
		out += " [" + Marks(c.Notes) + "]"
	}
	return out
}

// PrintLines writes lines of cells, of which the first is a head, as Print does.
func (t Table) PrintLines(w io.Writer, s Screen, lines [][]string) error {
	t.Header = lines[0]
	for _, line := range lines[1:] {
		t.AddRow(line...)
	}
	return t.Print(w, s)
}

// least is how narrow a column of words may become.
const least = 18

// Columns aligns rows, of which the first is a head. On a terminal words are
// continued below, first those of the widest column, and then columns from the right
// on are left out, but not the first ones, which name a row.
func (s Screen) Columns(rows [][]string, heads int) (out string, left []string) {
	widths := make([]int, len(rows[0]))
	for _, r := range rows {
		for j, c := range r {
			widths[j] = max(widths[j], text.StringWidthWithoutEscSequences(c))
		}
	}
	total := func(widths []int) (n int) { return sum(widths) + 2*(len(widths)-1) }
	shown := len(widths)
	for s.Width > 0 && total(widths[:shown]) > s.Width {
		j := slices.Index(widths[:shown], slices.Max(widths[:shown]))
		if widths[j] > least {
			widths[j] = max(least, widths[j]-total(widths[:shown])+s.Width)
		} else if shown > heads+1 {
			shown--
		} else {
			break
		}
	}
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options, style.Format.Header = table.OptionsNoBordersAndSeparators, text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	var configs []table.ColumnConfig
	for j := range shown {
		configs = append(configs, table.ColumnConfig{Number: j + 1, WidthMax: widths[j], WidthMaxEnforcer: text.WrapSoft})
	}
	t.SetColumnConfigs(configs)
	for i, r := range rows {
		row := table.Row(list.Map(r[:shown], func(s string) any { return s }))
		if i == 0 {
			t.AppendHeader(row)
		} else {
			t.AppendRow(row)
		}
	}
	var b strings.Builder
	for line := range strings.Lines(t.Render()) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String(), rows[0][shown:]
}

func sum(x []int) (n int) {
	for _, v := range x {
		n += v
	}
	return n
}
