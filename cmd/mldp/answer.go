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
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/views"
)

// jsonSchema is the version of what --json prints; see docs/programs.md.
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
	annotate(cmd, printing, "json")
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

// printing marks commands that have --json.
const printing = "printing"

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
	return views.Table{}.PrintLines(a.text, screen(a.text), lines)
}

// screen is the terminal that a command writes to, of no width where it is none.
func screen(out io.Writer) views.Screen { return views.Screen{Width: terminalWidth(out)} }

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
	}
	switch x := x.(type) {
	case fixed:
		return value(x.x)
	case results.Optional:
		return value(x.Float())
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
			if name := cmp.Or(f.Tag.Get("csv"), strings.ToLower(f.Name)); f.IsExported() && !f.Anonymous && name != "-" {
				object[name] = value(rows.Index(i).FieldByIndex(f.Index).Interface())
			}
		}
		a.Tables[name] = append(a.Tables[name], object)
	}
}

// show prints tables, for a reader or in one of views.Formats. As JSON their cells
// are texts.
func (a *answer) show(format string, all ...views.Table) error {
	for _, t := range all {
		rows := []map[string]any{}
		for _, row := range t.Rows {
			object := map[string]any{}
			for j, cell := range row {
				object[t.Header[j]] = value(cell.Text)
			}
			rows = append(rows, object)
		}
		a.Tables[t.Name] = rows
		var err error
		if len(t.Rows) == 0 {
			continue
		} else if format == forReaders {
			err = t.Print(a.text, screen(a.text))
		} else {
			err = t.Write(a.text, format)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forReaders is the format of tables on a terminal or in a pipe.
const forReaders = "text"

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
