package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/tables"
)

// jsonSchema is the version of what --json prints; see docs/json.md.
const jsonSchema = 1

// answer is what a command found: printed as it is found or, with --json, as one
// object at the end.
type answer struct {
	text   io.Writer // of the printed form; nowhere with --json
	asJSON bool

	Schema  int                         `json:"schema"`
	Command string                      `json:"command"`
	Tables  map[string][]map[string]any `json:"tables"`
	Files   []string                    `json:"files"`
}

// prints makes a command one that prints results, in either form. An exit code
// that is a result, such as that something changed, comes after them.
func prints(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, a *answer) error) *cobra.Command {
	cmd.Flags().Bool("json", false, "one JSON object on standard output, as docs/json.md says")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a := &answer{text: cmd.OutOrStdout(), Schema: jsonSchema, Command: cmd.CommandPath(),
			Tables: map[string][]map[string]any{}, Files: []string{}}
		var err error
		if a.asJSON, err = cmd.Flags().GetBool("json"); a.asJSON {
			a.text = io.Discard
		}
		if err == nil {
			err = do(cmd, args, a)
		}
		var v *verdict
		if !a.asJSON || err != nil && !errors.As(err, &v) {
			return err
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return errors.Join(e.Encode(a), err)
	}
	return cmd
}

// verdict is a result that is bad news: an exit code of its own.
type verdict struct {
	code int
	text string
}

func (v *verdict) Error() string { return v.text }

// fixed is a number that is printed with so many digits after the point.
type fixed struct {
	x      float64
	digits int
}

// table prints rows in columns, under capitals if they have names.
func (a *answer) table(name string, columns []string, rows [][]any) error {
	a.Tables[name] = []map[string]any{}
	lines := [][]string{strings.Split(strings.ToUpper(strings.Join(columns, "\t")), "\t")}
	for _, row := range rows {
		object := map[string]any{}
		for j, x := range row {
			object[columns[j]] = value(x)
		}
		a.Tables[name] = append(a.Tables[name], object)
		lines = append(lines, list.Map(row, text))
	}
	return printColumns(a.text, lines)
}

// printColumns aligns columns. On a terminal that is too narrow long cells are
// continued below, and columns that still have no room follow in a block of their
// own, beside the first again.
func printColumns(out io.Writer, lines [][]string) error {
	room := terminalWidth(out)
	if room == 0 {
		room = math.MaxInt
	}
	columns := len(lines[0])
	widths, least := make([]int, columns), make([]int, columns) // in runes
	for _, line := range lines {
		for j, s := range line {
			widths[j] = max(widths[j], utf8.RuneCountInString(s))
			for word := range strings.FieldsSeq(strings.ReplaceAll(s, ",", ", ")) {
				least[j] = max(least[j], min(utf8.RuneCountInString(word), 24))
			}
		}
	}
	var err error
	for from := 1; from == 1 || from < columns; {
		shown, width := []int{0}, least[0]
		for from < columns && (len(shown) == 1 || width+2+least[from] <= room) {
			width += 2 + least[from]
			shown, from = append(shown, from), from+1
		}
		if columns == 1 {
			from++
		}
		now, width := slices.Clone(widths), -2
		for _, j := range shown {
			width += 2 + now[j]
		}
		for ; width > room; width-- {
			j := slices.MaxFunc(shown, func(a, b int) int { return cmp.Compare(now[a]-least[a], now[b]-least[b]) })
			if now[j] == least[j] {
				break
			}
			now[j]--
		}
		for _, line := range lines {
			err = errors.Join(err, printLine(out, line, shown, now))
		}
		if from < columns {
			fmt.Fprintln(out)
		}
	}
	return err
}

// printLine prints the shown cells of a line in columns of so many runes.
func printLine(out io.Writer, line []string, shown, widths []int) error {
	cells := make([][]string, len(line))
	height := 1
	for _, j := range shown {
		cells[j] = wrapped(line[j], widths[j])
		height = max(height, len(cells[j]))
	}
	var err error
	for i := range height {
		var b strings.Builder
		for _, j := range shown {
			cell := ""
			if i < len(cells[j]) {
				cell = cells[j][i]
			}
			b.WriteString(cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)+2))
		}
		_, e := fmt.Fprintln(out, strings.TrimRight(b.String(), " "))
		err = errors.Join(err, e)
	}
	return err
}

// wrapped cuts a text into parts of at most width runes: at spaces or after commas
// where there are any.
func wrapped(s string, width int) (parts []string) {
	for {
		runes := []rune(s)
		if len(runes) <= width {
			return append(parts, s)
		}
		cut := width
		if at := strings.LastIndexByte(string(runes[:width+1]), ' '); at > 0 {
			cut = utf8.RuneCountInString(string(runes[:width+1])[:at])
		} else if at := strings.LastIndexByte(string(runes[:width]), ','); at > 0 {
			cut = utf8.RuneCountInString(string(runes[:width])[:at+1])
		}
		parts = append(parts, string(runes[:cut]))
		s = strings.TrimLeft(string(runes[cut:]), " ")
	}
}

// terminalWidth is 0 where out is no terminal.
func terminalWidth(out io.Writer) int {
	checked, ok := out.(*checkedOutput)
	if !ok {
		return 0
	}
	f, ok := checked.to.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// text is what a cell is printed as.
func text(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case bool:
		return map[bool]string{true: "yes", false: "no"}[x]
	case fixed:
		return strconv.FormatFloat(x.x, 'f', x.digits, 64)
	case float64:
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return fmt.Sprint(x)
}

// value is what a cell is as JSON: a number, a text, true or false, or null where
// there is none.
func value(x any) any {
	switch v := reflect.ValueOf(x); {
	case v.Kind() == reflect.Float64 && math.IsNaN(v.Float()), x == nil, x == "":
		return nil
	case v.Kind() == reflect.Float64 && math.IsInf(v.Float(), 0):
		return text(v.Float())
	case v.Kind() == reflect.Struct:
		return value(x.(fixed).x)
	}
	return x
}

// add takes a slice of structs of texts, numbers and truths, for --json; a csv
// tag names a column.
func (a *answer) add(name string, structs any) {
	rows := reflect.ValueOf(structs)
	a.Tables[name] = []map[string]any{}
	for i := range rows.Len() {
		object := map[string]any{}
		for _, f := range reflect.VisibleFields(rows.Type().Elem()) {
			if f.IsExported() && !f.Anonymous {
				object[cmp.Or(f.Tag.Get("csv"), strings.ToLower(f.Name))] = value(rows.Index(i).FieldByIndex(f.Index).Interface())
			}
		}
		a.Tables[name] = append(a.Tables[name], object)
	}
}

// paper prints tables in a format of tables.Formats; on a terminal, Markdown as
// columns that fit. As JSON their cells are texts.
func (a *answer) paper(format string, all ...tables.Table) error {
	for _, t := range all {
		if format == "md" && terminalWidth(a.text) > 0 {
			if err := errors.Join(printColumns(a.text, [][]string{{t.Title}}), a.brief(t)); err != nil {
				return err
			}
			continue
		}
		if err := t.Write(a.text, format); err != nil {
			return err
		}
		a.addTable(t)
	}
	return nil
}

func (a *answer) addTable(t tables.Table) {
	a.Tables[t.Name] = []map[string]any{}
	for _, row := range t.Rows {
		object := map[string]any{}
		for j, cell := range row {
			object[t.Heading(j)] = value(cell.Text)
		}
		a.Tables[t.Name] = append(a.Tables[t.Name], object)
	}
}

// brief prints a table for a terminal with its footnotes below it, or nothing if
// it has no rows.
func (a *answer) brief(t tables.Table) error {
	if len(t.Rows) == 0 {
		return nil
	}
	a.addTable(t)
	lines := [][]string{t.Header}
	for _, row := range t.Rows {
		lines = append(lines, list.Map(row, func(c tables.TableCell) string {
			text := c.Text
			for _, n := range c.Notes {
				text += fmt.Sprintf(" [%d]", n+1)
			}
			return text
		}))
	}
	if err := printColumns(a.text, lines); err != nil {
		return err
	}
	var notes []string
	for i, n := range t.Notes {
		notes = append(notes, fmt.Sprintf("[%d] %s", i+1, n))
	}
	if t.Legend != "" {
		notes = append(notes, t.Legend)
	}
	for _, n := range notes {
		if err := printColumns(a.text, [][]string{{n}}); err != nil {
			return err
		}
	}
	return nil
}

// wrote takes the files that were written to a folder; one line says which or
// how many.
func (a *answer) wrote(folder string, files ...string) {
	switch a.Files = append(a.Files, files...); len(files) {
	case 1:
		fmt.Fprintln(a.text, files[0])
	default:
		fmt.Fprintf(a.text, "%d files in %s\n", len(files), folder)
	}
}

// csvLines writes structs with csv tags as lines of CSV, one by one.
func csvLines[T any](a *answer) func(T) error { return results.RowWriter[T](a.text) }
