package experiments

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/plots"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/quantity"
	"mldpbench/results/views"
)

// Reproduction asks what papers print or, where tables, figures or a data set are named, for ours of these.
type Reproduction struct {
	Call
	Paper   string   // by name; "" is all, of which nothing is run
	Items   []string // such as "Table 3"
	Dataset string   // as the list names it
	Out     string   // folder of the runs, tables and figures
	// Parse reads the arguments of mldp run, which records have.
	Parse func(arguments []string) (Running, error)
}

// Papers are the names of those that can be reproduced.
func Papers() []string {
	return list.Map(published.Papers(), func(p published.Paper) string { return p.Name })
}

// Reproduce lists what papers print or, where tables, figures or a data set of one are named, runs what is missing of
// these and shows them.
func Reproduce(ctx context.Context, r Reproduction) (*Outcome, error) {
	o := r.answer()
	if r.Paper != "" {
		if err := check.OneOf("paper", r.Paper, Papers()...); err != nil {
			return nil, err
		}
	}
	var rows [][]any
	for _, p := range published.Papers() {
		if r.Paper != "" && r.Paper != p.Name {
			continue
		}
		wanted := p.Wanted(r.Items, r.Dataset)
		if r.Paper != "" && (len(r.Items) > 0 || r.Dataset != "") {
			return o, r.make(ctx, o, p, wanted)
		}
		for _, i := range wanted {
			row := []any{p.Name, i.Name, i.Dataset, i.What, nil, i.Otherwise}
			if len(i.Runs) > 0 {
				row[5], row[4] = p.Makes(i)
			}
			rows = append(rows, row)
		}
	}
	o.table("papers", []string{"paper", "item", "data set", "what", "minutes", "command, or why none"}, rows)
	return o, nil
}

// make runs what items need, shows their tables and draws their figures.
func (r Reproduction) make(ctx context.Context, o *Outcome, p published.Paper, items []published.Item) error {
	if len(items) == 0 {
		return check.Wrong("none of these is in %s: mldp reproduce %s lists what is", p.Title, p.Name)
	}
	var folders, quantities, tables, figures []string
	for _, i := range items {
		for _, name := range i.Runs {
			folder := filepath.Join(r.Out, p.Name+"-"+strings.ReplaceAll(name, "/", "-"))
			if slices.Contains(folders, folder) {
				continue
			}
			if err := r.run(ctx, o, published.Run(name), folder); err != nil {
				return err
			}
			folders = append(folders, folder)
		}
		if i.Otherwise != "" {
			o.say("%s: %s", i.Name, i.Otherwise)
		}
		quantities = append(quantities, i.Published...)
		tables = append(tables, i.Tables...)
		figures = append(figures, i.Figures...)
	}
	if len(figures) > 0 {
		drawn := filepath.Join(r.Out, "figures")
		viewing := Viewing{
			Call:    o.call,
			Runs:    folders,
			Only:    figures,
			Formats: plots.Formats,
			Out:     drawn,
		}
		viewing.Force = true
		viewing.Show = nil
		if _, err := Figures(ctx, viewing); err != nil {
			return err
		}
		o.say("%s", drawn)
	}
	return o.showPrinted(folders, tables, quantities)
}

// run runs a record of a paper, of which only errors and the log are of interest.
func (r Reproduction) run(ctx context.Context, o *Outcome, record results.Record, folder string) error {
	arguments := record.Arguments()
	line := "mldp " + strings.Join(arguments, " ")
	o.note("%s: about %g minutes of two idle cores", line, record.Time())
	running, err := r.Parse(arguments)
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	running.Call = o.call
	running.Force = false
	running.Show = nil
	running.Line = append(append([]string{"mldp"}, arguments...), "--out", folder)
	if r.Data != "" {
		running.Line = append(running.Line, "--data", r.Data)
	}
	running.Out = folder
	if _, err := Run(ctx, running); err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	return nil
}

// showPrinted shows tables of runs, and what is printed beside ours of some quantities.
func (o *Outcome) showPrinted(folders, tables, quantities []string) error {
	read, err := o.loadRuns(quantity.Levels{}, folders...)
	if err != nil {
		return err
	}
	if len(tables) > 0 {
		o.tables(views.Named(views.Tables(read, views.Builtin().Tables), tables...)...)
	}
	if len(quantities) > 0 {
		o.tables(published.Tables(read.Prepared, quantities...)...)
	}
	return nil
}
