package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mldpbench/results"
)

// jsonSchema is the version of what --json prints; see docs/json.md.
const jsonSchema = 1

// answer is what a command found: printed as it is found or, with --json, as one
// object at the end.
type answer struct {
	to     io.Writer
	asJSON bool

	Schema  int                         `json:"schema"`
	Command string                      `json:"command"`
	Tables  map[string][]map[string]any `json:"tables,omitempty"`
	Files   []string                    `json:"files,omitempty"`
}

// addJSON gives a command the flag --json.
func addJSON(cmd *cobra.Command) {
	cmd.Flags().Bool("json", false, "one JSON object on standard output, as docs/json.md says")
}

func newAnswer(cmd *cobra.Command) *answer {
	asJSON, err := cmd.Flags().GetBool("json")
	return &answer{to: cmd.OutOrStdout(), asJSON: err == nil && asJSON, Schema: jsonSchema, Command: cmd.CommandPath(),
		Tables: map[string][]map[string]any{}}
}

// table takes rows of texts, the first their names, and prints them in columns
// under capitals.
func (a *answer) table(name string, rows [][]string) error {
	if a.asJSON {
		a.add(name, rows)
		return nil
	}
	w := tabwriter.NewWriter(a.to, 0, 0, 2, ' ', 0)
	for i, row := range rows {
		line := strings.Join(row, "\t")
		if i == 0 {
			line = strings.ToUpper(line)
		}
		fmt.Fprintln(w, line)
	}
	return w.Flush()
}

// add takes rows of texts for --json: numbers are numbers, and empty cells null.
func (a *answer) add(name string, rows [][]string) {
	a.Tables[name] = []map[string]any{}
	for _, row := range rows[min(1, len(rows)):] {
		object := map[string]any{}
		for j, text := range row {
			var number json.Number
			switch {
			case text == "":
				object[rows[0][j]] = nil
			case json.Unmarshal([]byte(text), &number) == nil && text[0] != '"':
				object[rows[0][j]] = number
			default:
				object[rows[0][j]] = text
			}
		}
		a.Tables[name] = append(a.Tables[name], object)
	}
}

// csvRows takes structs as results.WriteRows does.
func (a *answer) csvRows(name string, structs any) error {
	var b bytes.Buffer
	if err := results.WriteRows(&b, structs); err != nil {
		return err
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err == nil {
		a.add(name, rows)
	}
	return err
}

// wrote takes the files that were written to a folder; one line says which or how many.
func (a *answer) wrote(folder string, files []string) {
	switch a.Files = append(a.Files, files...); {
	case a.asJSON:
	case len(files) == 1:
		fmt.Fprintln(a.to, files[0])
	default:
		fmt.Fprintf(a.to, "%d files in %s\n", len(files), folder)
	}
}

// end prints the object of --json.
func (a *answer) end() error {
	if !a.asJSON {
		return nil
	}
	e := json.NewEncoder(a.to)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(a)
}
