package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/stats"
)

func init() { commands = append(commands, newHistoryCommand) }

func newHistoryCommand() *cobra.Command {
	var level float64
	var format string
	cmd := &cobra.Command{
		Use:   "history RESULTS RESULTS...",
		Short: "Show the history of runs of one study",
		Long: `History reads runs in the given order (files, or folders of runs), the oldest
first, and writes one row per run: the version that made it, the mean over its
privatised records of each metric that the gate watches, and what changed beyond
chance since the previous run (see mldp compare A B).`,
		Example: `  mldp history results/mini results/mini`,
		Args:    cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := check.OneOf("format", format, results.TableFormats...); err != nil {
				return &exitError{exitUsage, err}
			}
			if err := check.Inside("level", level, 0, 1); err != nil {
				return &exitError{exitUsage, err}
			}
			var runs [][]results.Record
			var all []results.Record
			for _, path := range args {
				l, err := loadRuns([]string{path})
				if err != nil {
					return err
				}
				runs, all = append(runs, l.Records), append(all, l.Records...)
			}
			columns := slices.DeleteFunc(results.Measured(all), func(c results.Column) bool { return c.Threshold == 0 })
			t := results.Table{Name: "history", Title: "History of runs", Header: []string{"run", "version", "records"}}
			for _, c := range columns {
				t.Header = append(t.Header, c.Heading())
			}
			t.Header = append(t.Header, "changed since the run before")
			for i, run := range runs {
				privatised := results.Cells{Records: results.Where(run,
					func(r results.Record) bool { return !r.IsBaseline() })}
				versions := results.Distinct(run, func(r results.Record) string { return r.Version })
				row := []string{args[i], strings.Join(versions, ", "), fmt.Sprint(len(run))}
				for _, c := range columns {
					text := results.NotMeasured
					if x := privatised.Values(c.Get); len(x) > 0 {
						text = results.FormatNumber(stats.Mean(x), c.Digits)
					}
					row = append(row, text)
				}
				changed := ""
				if i > 0 {
					comparison, err := results.CompareRuns(runs[i-1], run, columns, level)
					if err != nil {
						return err
					}
					changed = fmt.Sprintf("%d of %d", comparison.Changed, len(comparison.Differences))
				}
				t.AddRow(append(row, changed)...)
			}
			t.Legend = "Means over the privatised records of a run: compare runs of one study. Changes are tested " +
				"cell by cell, Holm-corrected."
			return t.Write(cmd.OutOrStdout(), format)
		},
	}
	cmd.Flags().Float64Var(&level, "level", 0.05, "probability of reporting any change between two equal runs")
	cmd.Flags().StringVar(&format, "format", "md", "md, tex or csv")
	return cmd
}
