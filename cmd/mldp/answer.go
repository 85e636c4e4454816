package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/views"
)

// answer is what a command found: printed as it is found or, with --json, as one
// object at the end.
type answer struct {
	text io.Writer // of the printed form; nowhere with --json

	Schema  int                         `json:"schema"` // 1: see docs/programs.md
	Command string                      `json:"command"`
	Tables  map[string][]map[string]any `json:"tables"`
	Files   []string                    `json:"files"`
}

// prints makes a command one that prints results, in either form. An exit code
// that is a result, such as that something changed, comes after them.
func prints(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, a *answer) error) *cobra.Command {
	annotate(cmd, printing, "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		a := &answer{cmd.OutOrStdout(), 1, cmd.CommandPath(), map[string][]map[string]any{}, []string{}}
		asJSON, err := cmd.Flags().GetBool("json")
		if err != nil {
			return err
		} else if !asJSON {
			return do(cmd, args, a)
		}
		a.text = io.Discard
		var v *verdict
		if err = do(cmd, args, a); err != nil && !errors.As(err, &v) {
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

// table prints rows in columns, under capitals.
func (a *answer) table(name string, columns []string, rows [][]any) error {
	t := views.Table{Name: name, Header: list.Map(columns, strings.ToUpper)}
	for _, row := range rows {
		t.Rows = append(t.Rows, list.Map(row, cell))
	}
	a.keep(t, columns)
	return t.Print(a.text, screen(a.text))
}

// fixed is a number that is printed with so many digits after the point.
func fixed(x float64, digits int) views.Cell {
	return views.Cell{Text: views.Number(x, digits), Value: x}
}

func cell(x any) views.Cell {
	c := views.Cell{Text: fmt.Sprint(x), Value: x}
	switch x := x.(type) {
	case views.Cell:
		return x
	case nil:
		c.Text = ""
	case bool:
		c.Text = map[bool]string{true: "yes", false: "no"}[x]
	case float64:
		c.Text = views.Short(x)
	}
	return c
}

// value is what a cell is as JSON: a number, a text, true or false, or null where
// there is none.
func value(x any) any {
	if o, ok := x.(results.Optional); ok {
		x = o.Float()
	}
	if v, ok := x.(float64); ok && math.IsInf(v, 0) {
		return fmt.Sprint(v)
	} else if ok && math.IsNaN(v) || x == "" || x == views.NotMeasured {
		return nil
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

// show prints tables for a reader.
func (a *answer) show(all ...views.Table) (err error) {
	for _, t := range all {
		if a.keep(t, t.Header); len(t.Rows) > 0 {
			err = errors.Join(err, t.Print(a.text, screen(a.text)))
		}
	}
	return err
}

// keep takes a table for --json. A number has its interval in two further columns.
func (a *answer) keep(t views.Table, columns []string) {
	a.Tables[t.Name] = []map[string]any{}
	for _, row := range t.Rows {
		object := map[string]any{}
		for j, c := range row {
			if object[columns[j]] = value(c.Value); c.Value == nil {
				object[columns[j]] = value(c.Text)
			}
			if c.High.Known() {
				object[columns[j]+" low"], object[columns[j]+" high"] = value(c.Low), value(c.High)
			}
		}
		a.Tables[t.Name] = append(a.Tables[t.Name], object)
	}
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
