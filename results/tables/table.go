// Package tables renders prepared runs as tables in Markdown, LaTeX and CSV.
// Most come from one pivot (rows, columns, a quantity); the others compare
// mechanisms at equal privacy or equal loss. Numbers on real and on generated
// data are never in one table.
package tables

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/list"
)

// TableCell is one cell of a rendered table.
type TableCell struct {
	Text      string
	Best      bool  // bold
	Above     bool  // above the baseline: underlined
	Notes     []int // into Table.Notes
	Separator bool  // in the first cell of a row: a rule above the row

	value  float64 // that the text shows
	valued bool
}

// number is a cell that shows a number, NaN for none.
func number(text string, value float64) TableCell {
	return TableCell{Text: text, value: value, valued: !math.IsNaN(value)}
}

// ColumnGroup is a heading over several columns.
type ColumnGroup struct {
	Title string
	Span  int
}

// Table is a table that can be written as Markdown, LaTeX or CSV.
type Table struct {
	Name   string // file name without extension
	Title  string
	Groups []ColumnGroup // over Header, may be empty
	Header []string
	Rows   [][]TableCell
	Notes  []string // footnotes
	Legend string   // explanation of the numbers, below the table
	Narrow bool     // one column of a paper is enough, in LaTeX
}

// column appends a column under a heading over several, "" for none.
func (t *Table) column(group, title string) {
	t.Header = append(t.Header, title)
	if n := len(t.Groups); n == 0 || t.Groups[n-1].Title != group {
		t.Groups = append(t.Groups, ColumnGroup{Title: group})
	}
	t.Groups[len(t.Groups)-1].Span++
}

// AddRow appends a row of plain texts.
func (t *Table) AddRow(texts ...string) {
	row := make([]TableCell, len(texts))
	for i, s := range texts {
		row[i].Text = s
	}
	t.Rows = append(t.Rows, row)
}

// Note returns the number of a footnote, adding it if it is new.
func (t *Table) Note(text string) int {
	if i := slices.Index(t.Notes, text); i >= 0 {
		return i
	}
	t.Notes = append(t.Notes, text)
	return len(t.Notes) - 1
}

// heads is the number of the first columns, which name a row.
func (t Table) heads() int {
	if len(t.Groups) > 0 && t.Groups[0].Title == "" {
		return t.Groups[0].Span
	}
	return 1
}

// Select keeps the rows and columns that the words name: rows with a cell of one
// of them among the cells that name a row, columns whose heading holds one.
// Where a table has no such row or no such column, it keeps them all; columns
// that have become empty go. What is bold is the best of the whole table. met is
// set for every word found.
func (t Table) Select(words []string, met map[string]bool) Table {
	named := func(has func(string) bool) (own []string) {
		for _, word := range words {
			if has(word) {
				met[word], own = true, append(own, word)
			}
		}
		return own
	}
	rows := t.Rows
	for j := range t.heads() {
		is := func(word string) func([]TableCell) bool {
			return func(r []TableCell) bool { return j < len(r) && r[j].Text == word }
		}
		if own := named(func(word string) bool { return slices.ContainsFunc(t.Rows, is(word)) }); len(own) > 0 {
			rows = slices.DeleteFunc(slices.Clone(rows), func(r []TableCell) bool {
				return !slices.ContainsFunc(own, func(word string) bool { return is(word)(r) })
			})
		}
	}
	var columns, chosen []int
	for j := range t.Header {
		if j >= t.heads() && slices.ContainsFunc(rows, func(r []TableCell) bool { return j < len(r) && r[j].Text != "" }) {
			columns = append(columns, j)
		}
	}
	named(func(word string) bool {
		before := len(chosen)
		for _, j := range columns {
			if strings.Contains(" "+t.Heading(j)+" ", " "+word+" ") {
				chosen = append(chosen, j)
			}
		}
		return len(chosen) > before
	})
	if len(chosen) > 0 {
		slices.Sort(chosen)
		columns = slices.Compact(chosen)
	}
	for j := range t.heads() {
		columns = slices.Insert(columns, j, j)
	}
	out := t.only(rows, columns)
	out.Notes = nil // those that are left
	for _, row := range out.Rows {
		for j, c := range row {
			row[j].Notes = list.Map(c.Notes, func(n int) int { return out.Note(t.Notes[n]) })
		}
	}
	return out
}

// only is the table of some columns of some rows.
func (t Table) only(rows [][]TableCell, columns []int) Table {
	out := t
	out.Groups, out.Header, out.Rows = nil, nil, nil
	for _, j := range columns {
		if len(t.Groups) == 0 {
			out.Header = append(out.Header, t.Header[j])
		} else {
			out.column(t.group(j), t.Header[j])
		}
	}
	for _, r := range rows {
		var row []TableCell
		for _, j := range columns {
			row = append(row, r[j])
		}
		row[0].Separator = r[0].Separator
		out.Rows = append(out.Rows, row)
	}
	return out
}

// group is the heading over a column, "" for none.
func (t Table) group(j int) string {
	for _, g := range t.Groups {
		if j -= g.Span; j < 0 {
			return g.Title
		}
	}
	return ""
}

// hoist moves a footnote that all numbers of a row have (from column first on)
// to the row's head, the cell in column head.
func (t *Table) hoist(row, head, first int) {
	cells := t.Rows[row]
	var common []int
	numbers := 0
	for _, c := range cells[first:] {
		if c.Text == "" || c.Text == NotMeasured {
			continue
		}
		if numbers++; numbers == 1 {
			common = slices.Clone(c.Notes)
		}
		common = slices.DeleteFunc(common, func(n int) bool { return !slices.Contains(c.Notes, n) })
	}
	if numbers < 2 {
		return
	}
	cells[head].Notes = append(cells[head].Notes, common...)
	for j := first; j < len(cells); j++ {
		cells[j].Notes = slices.DeleteFunc(cells[j].Notes, func(n int) bool { return slices.Contains(common, n) })
	}
}

// NotMeasured stands for a number that was not measured.
const NotMeasured = "–"

// noteMark returns the mark of a footnote: a, b, …, z, aa, ab, …
func noteMark(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return noteMark(i/26-1) + string(rune('a'+i%26))
}

func marks(notes []int) string {
	sorted := slices.Compact(slices.Sorted(slices.Values(notes)))
	parts := make([]string, len(sorted))
	for i, n := range sorted {
		parts[i] = noteMark(n)
	}
	return strings.Join(parts, ",")
}

// Heading returns the flat name of column j.
func (t Table) Heading(j int) string { return strings.TrimSpace(t.group(j) + " " + t.Header[j]) }

func (t Table) headings() []string {
	h := make([]string, len(t.Header))
	for j := range h {
		h[j] = t.Heading(j)
	}
	return h
}

// markdownEscaper keeps a text from ending its cell or starting markup. An
// underscore within a word is not markup.
var markdownEscaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\n", " ", "*", `\*`, "<", "&lt;", "`", "\\`")

// WriteMarkdown renders the table for GitHub and for a terminal: columns are
// padded to equal width.
func (t Table) WriteMarkdown(w io.Writer) error {
	rows := [][]string{nil, nil}
	for j := range t.Header {
		rows[0] = append(rows[0], markdownEscaper.Replace(t.Heading(j)))
	}
	for _, row := range t.Rows {
		var line []string
		for _, c := range row {
			s := markdownEscaper.Replace(c.Text)
			if c.Above {
				s = "<u>" + s + "</u>"
			}
			if c.Best {
				s = "**" + s + "**"
			}
			if len(c.Notes) > 0 {
				s += "<sup>" + marks(c.Notes) + "</sup>"
			}
			line = append(line, s)
		}
		rows = append(rows, line)
	}
	widths := make([]int, len(t.Header))
	for _, row := range rows {
		for j, s := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(s), 3)
		}
	}
	for j := range t.Header {
		rows[1] = append(rows[1], strings.Repeat("-", widths[j]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n", markdownEscaper.Replace(t.Title))
	for _, row := range rows {
		for j, s := range row {
			fmt.Fprintf(&b, "| %s%s ", s, strings.Repeat(" ", widths[j]-utf8.RuneCountInString(s)))
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	if t.Legend != "" {
		fmt.Fprintf(&b, "%s\n\n", markdownEscaper.Replace(t.Legend))
	}
	for i, n := range t.Notes {
		fmt.Fprintf(&b, "<sup>%s</sup> %s  \n", noteMark(i), markdownEscaper.Replace(n))
	}
	if len(t.Notes) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteCSV renders plain values; footnotes go to a last column.
func (t Table) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	write := func(cells []string) error {
		for i, text := range cells {
			cells[i] = inert(text)
		}
		return out.Write(cells)
	}
	if err := write(append(t.headings(), "notes")); err != nil {
		return err
	}
	for _, row := range t.Rows {
		var line []string
		var notes []int
		for _, c := range row {
			line = append(line, c.Text)
			notes = append(notes, c.Notes...)
		}
		var texts []string
		for _, n := range slices.Compact(slices.Sorted(slices.Values(notes))) {
			texts = append(texts, t.Notes[n])
		}
		if err := write(append(line, strings.Join(texts, "; "))); err != nil {
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

// Formats are the file extensions of tables.
var Formats = []string{"md", "tex", "csv"}

// Save writes the table to dir in the formats and returns the paths.
func (t Table) Save(dir string, formats []string) ([]string, error) {
	var paths []string
	for _, format := range formats {
		path := dir + "/" + t.Name + "." + format
		if err := atomicfile.Write(path, 0o644, func(w io.Writer) error { return t.Write(w, format) }); err != nil {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// Write stores tables in dir in the given formats (nil: all) and returns the
// paths.
func Write(dir string, list []Table, formats []string) ([]string, error) {
	if formats == nil {
		formats = Formats
	}
	var paths []string
	for _, t := range list {
		p, err := t.Save(dir, formats)
		paths = append(paths, p...)
		if err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// Write renders the table in one of Formats.
func (t Table) Write(w io.Writer, format string) error {
	switch format {
	case "md":
		return t.WriteMarkdown(w)
	case "tex":
		return t.WriteLaTeX(w)
	case "csv":
		return t.WriteCSV(w)
	}
	return fmt.Errorf("format = %q: must be one of %q", format, Formats)
}
