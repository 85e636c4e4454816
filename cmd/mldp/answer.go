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
	"text/tabwriter"
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

// printColumns aligns columns. On a terminal that is too narrow, the texts of the
// last one are continued below.
func printColumns(out io.Writer, lines [][]string) error {
	room, last := math.MaxInt, len(lines[0])-1
	if width := terminalWidth(out); width > 0 {
		room = width
		for j := range last {
			room -= 2 + slices.Max(list.Map(lines, func(line []string) int { return utf8.RuneCountInString(line[j]) }))
		}
		room = max(room, 24)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, line := range lines {
		for {
			now, rest := line[last], ""
			if runes := []rune(now); len(runes) > room {
				cut := room
				if space := strings.LastIndexByte(string(runes[:room+1]), ' '); space > 0 {
					cut = len([]rune(string(runes[:room+1])[:space]))
				}
				now, rest = string(runes[:cut]), strings.TrimLeft(string(runes[cut:]), " ")
			}
			fmt.Fprintln(w, strings.TrimRight(strings.Join(append(slices.Clone(line[:last]), now), "\t"), "\t"))
			if rest == "" {
				break
			}
			line = append(make([]string, last), rest)
		}
	}
	return w.Flush()
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

// paper prints tables in a format of tables.Formats. As JSON their cells are
// texts.
func (a *answer) paper(format string, all ...tables.Table) error {
	for _, t := range all {
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
	for i, n := range t.Notes {
		fmt.Fprintf(a.text, "[%d] %s\n", i+1, n)
	}
	if t.Legend != "" {
		fmt.Fprintln(a.text, t.Legend)
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
