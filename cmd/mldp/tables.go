package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

func newTablesCommand() *cobra.Command {
	var out string
	var datasets, mechanisms, only, selected, formats []string
	var compact, narrow bool
	var align alignFlag
	cmd := &cobra.Command{
		Use:   "tables RESULTS...",
		Short: "Write tables as Markdown, LaTeX and CSV",
		Long: `Tables reads results (files, or folders of runs, which are joined) and writes
all tables for which they have data: data sets, every quantity, accuracy at equal
error of the adversary, promises, attackers, audit, comparison with the published
tables. --select keeps rows by a cell that names them (a data
set, a mechanism) and columns by words of their heading (ε=5, accuracy); what is
bold stays the best of the whole table. LaTeX needs booktabs, graphicx and array;
a table is made for both columns of a paper or, with --narrow, for one, and is
continued under its number where it is too large for a page.`,
		Example: `  mldp tables runs/mini --out tables
  mldp tables runs/mini --only accuracy --mechanism cmp,tem --format tex --out tables
  mldp tables runs/mini --only accuracy --select "ε=1,CMP,TEM" --narrow --format tex --out tables`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, f := range formats {
				if err := check.OneOf("format", f, tables.Formats...); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			p, dir, err := loadRuns(args)
			if err != nil {
				return err
			}
			if p, err = choose(p, datasets, mechanisms); err != nil {
				return &exitError{exitUsage, err}
			}
			p.Levels = align.Levels
			if out == "" {
				out = filepath.Join(dir, "tables")
			}
			list := append(tables.All(p), published.Tables(p, published.DefaultMargin)...)
			if len(only) > 0 {
				list = slices.DeleteFunc(list, func(t tables.Table) bool {
					return !slices.ContainsFunc(only, func(part string) bool { return strings.HasPrefix(t.Name, part) })
				})
			}
			if len(list) == 0 {
				return fmt.Errorf("%s: no table of this name", args[0])
			}
			met := map[string]bool{}
			for i := range list {
				if list[i].Narrow = narrow; compact {
					list[i] = list[i].Compact()
				}
				if len(selected) > 0 {
					list[i] = list[i].Select(selected, met)
				}
			}
			for _, word := range selected {
				if !met[word] {
					return &exitError{exitUsage,
						fmt.Errorf("select = %q: no row or column of these tables has this name", word)}
				}
			}
			paths, err := tables.Write(out, list, formats)
			if err != nil {
				return err
			}
			a := newAnswer(cmd)
			a.wrote(out, paths)
			return a.end()
		},
	}
	align.add(cmd)
	f := cmd.Flags()
	addJSON(cmd)
	addChoice(cmd, &datasets, &mechanisms)
	f.StringSliceVar(&only, "only", nil, "tables by beginning of name: accuracy, privacy, aligned…")
	f.StringSliceVar(&formats, "format", tables.Formats, "md, tex, csv")
	f.StringVarP(&out, "out", "o", "", "folder of the tables (default: tables next to the first results)")
	f.StringSliceVar(&selected, "select", nil, "names of rows, and words of headings of columns")
	f.BoolVar(&narrow, "narrow", false, "LaTeX for one column of a paper")
	f.BoolVar(&compact, "compact", false, "means only, without ± and notes")
	return cmd
}

// addChoice adds the flags of choose.
func addChoice(cmd *cobra.Command, datasets, mechanisms *[]string) {
	cmd.Flags().StringSliceVar(datasets, "dataset", nil, "data sets (default: all)")
	cmd.Flags().StringSliceVar(mechanisms, "mechanism", nil, "mechanisms (default: all)")
}

// choose keeps data sets and mechanisms, and the baselines.
func choose(p *results.Prepared, datasets, mechanisms []string) (*results.Prepared, error) {
	pick := func(what string, wanted []string, of func(results.Cell) string) error {
		names := results.Distinct(p.Cells, of)
		for _, w := range wanted {
			if !slices.Contains(names, w) {
				return fmt.Errorf("%s = %q: the results have %s", what, w, strings.Join(names, ", "))
			}
		}
		return nil
	}
	dataset := func(c results.Cell) string { return c.Dataset }
	mechanism := func(c results.Cell) string { return c.Mechanism }
	if err := errors.Join(pick("dataset", datasets, dataset), pick("mechanism", mechanisms, mechanism)); err != nil {
		return nil, err
	}
	return p.Select(func(c results.Cell) bool {
		return (len(datasets) == 0 || slices.Contains(datasets, c.Dataset)) &&
			(len(mechanisms) == 0 || c.IsBaseline() || slices.Contains(mechanisms, c.Mechanism))
	}), nil
}
