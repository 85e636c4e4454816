// Command study makes records of results/reference anew, each as results/records.yaml says, with the program of
// make build: go run ./results/study [NAME ...] at the root of the repository makes these, or all. The same command
// continues what was interrupted, but for an audit, which starts anew.
//
// MLDP is the program (bin/mldp), MLDP_DATA its data folder, STUDY_OUT the folder of the runs (runs/study).
package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mldpbench/internal/atomicfile"
	"mldpbench/results"
)

// main makes the records that the arguments name; exit code 2 of an unknown one, 1 if any failed.
func main() {
	m := maker{
		program: setting("MLDP", filepath.Join("bin", "mldp")),
		runs:    setting("STUDY_OUT", filepath.Join("runs", "study")),
		records: filepath.Join("results", "reference"),
		log:     os.Stderr,
	}
	wanted, err := named(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(2)
	}
	if err := m.makeAll(wanted); err != nil {
		fmt.Fprintln(os.Stderr, "study:", err)
		os.Exit(1)
	}
}

// setting is a variable of the environment, or what holds where it is not set.
func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

// named are the records of these names, or all that can be made anew.
func named(names []string) ([]results.Record, error) {
	kept := results.Where(results.Records(), func(r results.Record) bool {
		return r.File != "" && r.Arguments() != nil
	})
	if len(names) == 0 {
		return kept, nil
	}
	var found []results.Record
	for _, name := range names {
		i := slices.IndexFunc(kept, func(r results.Record) bool { return r.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("results/records.yaml has no record %q that can be made anew", name)
		}
		found = append(found, kept[i])
	}
	return found, nil
}

// maker runs the program and writes what it measures into a folder.
type maker struct {
	program string
	runs    string // a folder in it holds each run
	records string
	log     io.Writer
}

// makeAll makes records, those after one that fails as well, whose errors are joined.
func (m maker) makeAll(all []results.Record) error {
	if err := os.MkdirAll(m.runs, 0o755); err != nil {
		return err
	}
	var failed []error
	for _, r := range all {
		fmt.Fprintln(m.log, "== mldp", strings.Join(r.Arguments(), " "))
		make := m.ofRun
		if r.Command == "audit" {
			make = m.ofAudit
		}
		if err := make(r); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return errors.Join(failed...)
}

// ofRun runs a study and keeps its rows, without the answers by document if the record has none.
func (m maker) ofRun(r results.Record) error {
	folder := filepath.Join(m.runs, r.Name)
	run := exec.Command(m.program, append(r.Arguments(), "--out", folder)...)
	run.Stdout = os.Stdout
	run.Stderr = m.log
	if err := run.Run(); err != nil {
		return err
	}
	file, err := results.File(folder)
	if err != nil {
		return err
	}
	rows, err := results.Read(file)
	if err != nil {
		return err
	}
	if !r.Answers {
		for i := range rows {
			rows[i].Items = ""
		}
	}
	if err := results.Write(filepath.Join(m.records, r.File), rows); err != nil {
		return err
	}
	if made := results.Parts(rows); !slices.EqualFunc(made, r.Made, results.Part.Same) {
		fmt.Fprintf(m.log, "results/records.yaml, %s: made is now %s\n", r.Name, said(made))
	}
	return nil
}

// said is a list of parts as records.yaml writes it.
func said(made []results.Part) string {
	var parts []string
	for _, p := range made {
		parts = append(parts, fmt.Sprintf("{program: %q, rows: %d}", p.Program, p.Rows))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// auditColumns are those of an audit that a record keeps.
var auditColumns = []string{"mechanism", "variant", "parameters", "epsilon", "promises", "lower_bound", "violated",
	"exact"}

// ofAudit keeps the verdicts of an audit as CSV.
func (m maker) ofAudit(r results.Record) error {
	audit := exec.Command(m.program, append(r.Arguments(), "--json")...)
	audit.Stderr = m.log
	answer, err := audit.Output()
	if err != nil {
		return err
	}
	var found struct {
		Tables struct {
			Audit []map[string]any `json:"audit"`
		} `json:"tables"`
	}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber() // digits stay as they are written
	if err := decoder.Decode(&found); err != nil {
		return fmt.Errorf("the answer of mldp audit --json: %w", err)
	}
	lines := [][]string{auditColumns}
	for i, row := range found.Tables.Audit {
		var line []string
		for _, column := range auditColumns {
			value, ok := row[column]
			if !ok {
				return fmt.Errorf("the answer of mldp audit --json: row %d has no %s", i+1, column)
			}
			line = append(line, field(value))
		}
		lines = append(lines, line)
	}
	return atomicfile.Write(filepath.Join(m.records, r.File), 0o644, func(w io.Writer) error {
		return csv.NewWriter(w).WriteAll(lines)
	})
}

// field is a value of JSON in a file; null is an empty field.
func field(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	default:
		return fmt.Sprint(v)
	}
}
