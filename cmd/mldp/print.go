package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/results"
	"mldpbench/results/views"
)

// printing marks commands that have --json.
const printing = "printing"

// callOf is what a use case is told by a command, whose standard output has the parts of the outcome.
func callOf(cmd *cobra.Command) (experiments.Call, error) {
	force, err := cmd.Flags().GetBool("force")
	return experiments.Call{
		Data:    cmd.Flag("data").Value.String(),
		Version: mldpVersion(),
		Line:    commandLine(cmd.Context()),
		Force:   force,
		Log:     cmd.ErrOrStderr(),
		Show:    func(p experiments.Part) { show(cmd.OutOrStdout(), p) },
	}, err
}

// show prints a part of an outcome. Standard output remembers what could not be written.
func show(out io.Writer, p experiments.Part) {
	if p.Table == nil {
		fmt.Fprintln(out, p.Text)
		return
	}
	if len(p.Table.Rows) > 0 {
		_ = p.Table.Print(out, screen(out))
	}
}

// useCase answers the question of a command.
type useCase func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error)

// answers makes a command one that prints an outcome: its parts as they come or, with --json, one object at the end.
// An exit code that is an answer, such as that something changed, comes after them.
func answers(cmd *cobra.Command, ask useCase) *cobra.Command {
	annotate(cmd, printing, "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		asJSON, err := cmd.Flags().GetBool("json")
		if err != nil {
			return err
		}
		call, err := callOf(cmd)
		if err != nil {
			return err
		}
		if asJSON {
			call.Show = nil
		}
		outcome, err := ask(cmd, call, args)
		var verdict *experiments.Verdict
		if !asJSON || err != nil && !errors.As(err, &verdict) {
			return err
		}
		e := json.NewEncoder(cmd.OutOrStdout())
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return errors.Join(e.Encode(newObject(cmd.CommandPath(), outcome)), err)
	}
	return cmd
}

// object is an outcome as JSON.
type object struct {
	Schema  int                         `json:"schema"` // 1: see docs/programs.md
	Command string                      `json:"command"`
	Tables  map[string][]map[string]any `json:"tables"`
	Files   []string                    `json:"files"`
}

// newObject is the JSON of an outcome.
func newObject(command string, outcome *experiments.Outcome) object {
	o := object{
		Schema:  1,
		Command: command,
		Tables:  map[string][]map[string]any{},
		Files:   []string{},
	}
	for name, structs := range outcome.Records {
		o.Tables[name] = structObjects(structs)
	}
	for _, p := range outcome.Parts {
		if p.Table != nil {
			o.Tables[p.Table.Name] = tableObjects(*p.Table)
		}
	}
	o.Files = append(o.Files, outcome.Files...)
	return o
}

// structObjects are those of a slice of structs of texts, numbers and truths; a csv tag names a column.
func structObjects(structs any) []map[string]any {
	all := []map[string]any{}
	rows := reflect.ValueOf(structs)
	for i := range rows.Len() {
		object := map[string]any{}
		for _, f := range reflect.VisibleFields(rows.Type().Elem()) {
			name := f.Tag.Get("csv")
			if name == "" {
				name = strings.ToLower(f.Name)
			}
			if f.IsExported() && !f.Anonymous && name != "-" {
				object[name] = value(rows.Index(i).FieldByIndex(f.Index).Interface())
			}
		}
		all = append(all, object)
	}
	return all
}

// tableObjects are those of the rows of a table. A number has its interval in two further columns.
func tableObjects(t views.Table) []map[string]any {
	all := []map[string]any{}
	for _, row := range t.Rows {
		object := map[string]any{}
		for j, c := range row {
			name := t.Header[j]
			object[name] = value(c.Value)
			if c.Value == nil {
				object[name] = value(c.Text)
			}
			hasInterval := func(r []views.Cell) bool { return r[j].High.Known() }
			if slices.ContainsFunc(t.Rows, hasInterval) {
				object[name+" low"] = value(c.Low)
				object[name+" high"] = value(c.High)
			}
		}
		all = append(all, object)
	}
	return all
}

// value is what a cell is as JSON: a number, a text, true or false, or null where
// there is none.
func value(x any) any {
	if o, ok := x.(results.Optional); ok {
		x = o.Float()
	}
	v, isNumber := x.(float64)
	switch {
	case isNumber && math.IsInf(v, 0):
		return fmt.Sprint(v)
	case isNumber && math.IsNaN(v), x == "", x == views.NotMeasured:
		return nil
	}
	return x
}
