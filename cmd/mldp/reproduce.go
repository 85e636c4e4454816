package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/views"
)

// newReproduceCommand lists what papers print or, where tables, figures or a data set
// are named, runs what is missing of these and prints them.
func newReproduceCommand() *cobra.Command {
	var out, dataset string
	var items []string
	names := list.Map(published.Papers(), func(p published.Paper) string { return p.Name })
	cmd := completes(command("reproduce", "[PAPER]"), func() []string { return names })
	for kind, short := range map[string]string{"table": "Table ", "figure": "Figure "} {
		cmd.Flags().Func(kind, "these `numbers`, as 3,6,7", func(numbers string) error {
			for n := range strings.SplitSeq(numbers, ",") {
				items = append(items, short+n)
			}
			return nil
		})
	}
	cmd.Flags().StringVar(&dataset, "dataset", "", "of this data set alone, as the list names it")
	outFlag(cmd.Flags(), &out, "runs/reproduce", "folder of the runs, tables and figures")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if err := check.OneOf("paper", append(args, names[0])[0], names...); err != nil {
			return err
		}
		var rows [][]any
		for _, p := range published.Papers() {
			wanted := p.Wanted(items, dataset)
			switch named := len(items) > 0 || dataset != ""; {
			case len(args) > 0 && args[0] != p.Name:
				continue
			case len(args) > 0 && named:
				return reproduce(cmd, a, p, wanted, out)
			}
			for _, i := range wanted {
				row := []any{p.Name, i.Name, i.Dataset, i.What, nil, i.Otherwise}
				if len(i.Runs) > 0 {
					row[5], row[4] = p.Makes(i)
				}
				rows = append(rows, row)
			}
		}
		return a.table("papers", []string{"paper", "item", "data set", "what", "minutes", "command, or why none"}, rows)
	})
}

// again is run, for a command that runs others.
var again func(context.Context, []string, io.Reader, io.Writer, io.Writer) int

func init() { again = run } // here, as the commands are what it reads

// reproduce runs what items need, prints their tables and draws their figures.
func reproduce(cmd *cobra.Command, a *answer, p published.Paper, items []published.Item, out string) error {
	if len(items) == 0 {
		return check.Wrong("none of these is in %s: mldp reproduce %s lists what is", p.Title, p.Name)
	}
	var folders, quantities, tables, figures []string
	do := func(args ...string) error {
		if data := cmd.Flag("data").Value.String(); data != "" {
			args = append(args, "--data", data)
		}
		if code := again(cmd.Context(), args, cmd.InOrStdin(), io.Discard, cmd.ErrOrStderr()); code != exitOK {
			return &verdict{code, "mldp " + strings.Join(args, " ") + " failed"}
		}
		return nil
	}
	for _, i := range items {
		for _, name := range i.Runs {
			folder := filepath.Join(out, p.Name+"-"+strings.ReplaceAll(name, "/", "-"))
			if slices.Contains(folders, folder) {
				continue
			}
			record := published.Run(name)
			arguments := record.Arguments()
			fmt.Fprintf(cmd.ErrOrStderr(), "mldp %s: about %g minutes of two idle cores\n", strings.Join(arguments, " "),
				record.Time())
			if err := do(append(arguments, "--out", folder)...); err != nil {
				return err
			}
			folders = append(folders, folder)
		}
		if i.Otherwise != "" {
			fmt.Fprintf(a.text, "%s: %s\n", i.Name, i.Otherwise)
		}
		quantities, tables = append(quantities, i.Published...), append(tables, i.Tables...)
		figures = append(figures, i.Figures...)
	}
	if len(figures) > 0 {
		drawn := filepath.Join(out, "figures")
		if err := do(append([]string{"figures", "--force", "--out", drawn, "--only", strings.Join(figures, ",")},
			folders...)...); err != nil {
			return err
		}
		fmt.Fprintln(a.text, drawn)
	}
	read, err := loadRuns(cmd.ErrOrStderr(), results.Levels{}, folders...)
	if err != nil {
		return err
	}
	var shown []views.Table
	if len(tables) > 0 {
		shown = views.Named(views.Tables(read, views.Builtin().Tables), tables...)
	}
	if len(quantities) > 0 {
		shown = append(shown, published.Tables(read.Prepared, quantities...)...)
	}
	return a.show(shown...)
}
