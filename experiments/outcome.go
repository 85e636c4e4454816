package experiments

import (
	"errors"
	"fmt"
	"io"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
)

// Call is what every use case is told by its caller.
type Call struct {
	Data    string     // folder of data; "" is the default
	Version string     // of the program, for records
	Line    []string   // that was typed, for records
	Force   bool       // replaces files that are there, but never an input
	Log     io.Writer  // hears of progress and notes as they come; nil for nobody
	Show    func(Part) // is given each part of the outcome as it comes; nil for nobody
}

// Part is a piece of an outcome for a reader: a table or, without one, a line of text.
type Part struct {
	Text  string
	Table *views.Table
}

// Outcome is the answer of a use case.
type Outcome struct {
	Analysis *analysis.Analysis // of the rows; nil where there are none
	Parts    []Part             // in the order in which they are read
	Records  map[string]any     // further rows for programs, by name: slices of structs, whose csv tags name columns
	Notes    []string           // what a reader must know, as the log has it
	Files    []string           // that were written
	call     Call
}

// answer begins an outcome.
func (c Call) answer() *Outcome {
	if c.Log == nil {
		c.Log = io.Discard
	}
	if c.Show == nil {
		c.Show = func(Part) {}
	}
	return &Outcome{Records: map[string]any{}, call: c}
}

// note adds a note.
func (o *Outcome) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	o.Notes = append(o.Notes, text)
	fmt.Fprintln(o.call.Log, text)
}

// add adds a part.
func (o *Outcome) add(p Part) {
	o.Parts = append(o.Parts, p)
	o.call.Show(p)
}

// say adds a line of text.
func (o *Outcome) say(format string, args ...any) { o.add(Part{Text: fmt.Sprintf(format, args...)}) }

// tables adds tables.
func (o *Outcome) tables(all ...views.Table) {
	for _, t := range all {
		o.add(Part{Table: &t})
	}
}

// table adds a table of numbers, texts and truths under its columns.
func (o *Outcome) table(name string, columns []string, rows [][]any) {
	o.tables(tableOf(name, columns, rows))
}

// listing is a table whose long cells go on below, so that it has at most 100 characters in a line.
func (o *Outcome) listing(name string, columns []string, rows [][]any) {
	t := tableOf(name, columns, rows)
	t.Width = 100
	o.tables(t)
}

func tableOf(name string, columns []string, rows [][]any) views.Table {
	cells := list.Map(rows, func(row []any) []views.Cell { return list.Map(row, cell) })
	return views.Table{Name: name, Header: columns, Rows: cells}
}

// cell is one of a number, a text, true or false, or nothing.
func cell(x any) views.Cell {
	c := views.Cell{Text: fmt.Sprint(x), Value: x}
	switch x := x.(type) {
	case nil:
		c.Text = ""
	case bool:
		c.Text = "no"
		if x {
			c.Text = "yes"
		}
	case float64:
		c.Text = views.Short(x)
	}
	return c
}

// wrote adds files that were written to a folder; one line says which or how many.
func (o *Outcome) wrote(folder string, files ...string) {
	o.Files = append(o.Files, files...)
	if len(files) == 1 {
		o.say("%s", files[0])
		return
	}
	o.say("%d files in %s", len(files), folder)
}

// Verdict is an answer that is bad news, and comes beside its outcome; a command has an exit code for each kind.
type Verdict struct {
	Kind VerdictKind
	Text string
}

// VerdictKind is what an answer says.
type VerdictKind int

// Kinds of bad news.
const (
	Changed  VerdictKind = iota // results are other than before
	Nothing                     // nothing was compared or audited
	Violated                    // an audit refutes a claimed guarantee
)

func (v *Verdict) Error() string { return v.Text }

// nothing is the verdict that nothing could be compared.
func nothing(format string, args ...any) error {
	return &Verdict{Nothing, fmt.Sprintf(format, args...)}
}

// Usage makes an error one of wrong usage, if it is no verdict.
func Usage(err error) error {
	var v *Verdict
	if err == nil || errors.As(err, &v) {
		return err
	}
	return check.Wrong("%v", err)
}
