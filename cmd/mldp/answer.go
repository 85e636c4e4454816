package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/views"
)

// answer is what a command found: printed as it is found or, with --json, as one
// object at the end.
type answer struct {
	text    io.Writer                   // of the printed form; nowhere with --json
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
		if asJSON {
			a.text = io.Discard
		}
		if err == nil {
			err = do(cmd, args, a)
		}
		if _, isResult := errors.AsType[*verdict](err); !asJSON || err != nil && !isResult {
			return err
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return errors.Join(e.Encode(a), err)
	}
	return cmd
}

// table prints rows in columns, under capitals.
func (a *answer) table(name string, columns []string, rows [][]any) error {
	return a.show(views.Table{Name: name, Header: columns, Rows: list.Map(rows, func(r []any) []views.Cell {
		return list.Map(r, cell)
	})})
}

// cell is one of a number, a text, true or false, or nothing.
func cell(x any) views.Cell {
	c := views.Cell{Text: fmt.Sprint(x), Value: x}
	switch x := x.(type) {
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

// show prints tables for a reader. As JSON a number has its interval in two further
// columns.
func (a *answer) show(all ...views.Table) (err error) {
	for _, t := range all {
		a.Tables[t.Name] = []map[string]any{}
		for _, row := range t.Rows {
			object := map[string]any{}
			for j, c := range row {
				name := t.Header[j]
				if object[name] = value(c.Value); c.Value == nil {
					object[name] = value(c.Text)
				}
				if slices.ContainsFunc(t.Rows, func(r []views.Cell) bool { return r[j].High.Known() }) {
					object[name+" low"], object[name+" high"] = value(c.Low), value(c.High)
				}
			}
			a.Tables[t.Name] = append(a.Tables[t.Name], object)
		}
		if len(t.Rows) > 0 {
			err = errors.Join(err, t.Print(a.text, screen(a.text)))
		}
	}
	return err
}

// warned takes what is odd about data sets, for --json.
func (a *answer) warned(all []datasets.Description) {
	for _, d := range all {
		for _, w := range d.Warnings {
			a.Tables["warnings"] = append(a.Tables["warnings"], map[string]any{"dataset": d.Name, "warning": w})
		}
	}
}

// wrote takes the files that were written to a folder; one line says which or
// how many.
func (a *answer) wrote(folder string, files ...string) {
	if a.Files = append(a.Files, files...); len(files) == 1 {
		fmt.Fprintln(a.text, files[0])
	} else {
		fmt.Fprintf(a.text, "%d files in %s\n", len(files), folder)
	}
}
