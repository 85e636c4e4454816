package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
)

func init() { commands = append(commands, newFiguresCommand) }

func newFiguresCommand() *cobra.Command {
	var out string
	var datasets, mechanisms, metrics, only, formats []string
	var columns int
	var fontSize float64
	cmd := &cobra.Command{
		Use:   "figures RESULTS...",
		Short: "Draw the figures of finished records again",
		Long: `Figures draws every figure for which the records have data, as PNG, SVG and PDF
at the width of one column of a paper (3.4 inches) or of both (7 inches), and
prints the paths. RESULTS is the folder of a run or its results.csv; several are
joined. Figures that cannot be drawn are listed on standard error with the
reason.`,
		Example: `  mldp figures results/mini -o plots/mini
  mldp figures results/mini --mechanism cmp,tem --only frontier --format pdf
  mldp figures results/mini --metric accuracy,n_w --columns 2 --font-size 9 --format pdf`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := loadRuns(args)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(l.dir, "plots")
			}
			if err := chooseRecords(&l, datasets, mechanisms); err != nil {
				return &exitError{exitUsage, err}
			}
			if err := errors.Join(check.Within("columns", float64(columns), 1, 2),
				check.Within("font-size", fontSize, 4, 24)); err != nil {
				return &exitError{exitUsage, err}
			}
			for _, m := range metrics {
				if _, err := results.FindColumn(m); err != nil {
					return &exitError{exitUsage, err}
				}
				kind := strings.ReplaceAll(m, "_", "-")
				only = append(only, kind+"-", "metric-"+kind+"-")
			}
			if chosen := results.OfQuantities(l.Records, metrics); len(chosen) < len(l.Records) {
				l.Records, only = chosen, append(only, "attacks-")
			}
			for _, f := range formats {
				if err := check.OneOf("format", f, plots.Formats...); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			drawn, skipped, err := report.Figures(l.Input)
			if err != nil {
				return err
			}
			if len(only) > 0 {
				skipped = nil
				drawn = slices.DeleteFunc(drawn, func(f plots.Figure) bool {
					return !slices.ContainsFunc(only, func(part string) bool { return strings.HasPrefix(f.Name, part) })
				})
			}
			if len(drawn) == 0 {
				return fmt.Errorf("%s: no figure could be drawn", args[0])
			}
			width := plots.ColumnWidth
			if columns == 2 {
				width = plots.PageWidth
			}
			for i := range drawn {
				drawn[i] = drawn[i].Resized(width, fontSize)
			}
			paths, err := plots.Save(out, drawn, formats)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for _, s := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "not drawn: %s: %s\n", s.Name, s.Reason)
			}
			for _, p := range paths {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			return nil
		},
	}
	cmd.Flags().StringSliceVar(&datasets, "dataset", nil, "data sets to draw (default: all)")
	cmd.Flags().StringSliceVar(&mechanisms, "mechanism", nil, "mechanisms to draw (default: all)")
	cmd.Flags().StringSliceVar(&only, "only", nil, "figures by beginning of name: accuracy, frontier, metric-n-w…")
	cmd.Flags().StringSliceVar(&metrics, "metric", nil,
		"figures of these columns of the records, or of attackers: accuracy, n_w, em-uniform…")
	cmd.Flags().IntVar(&columns, "columns", 1, "width of a figure in columns of a two-column paper: 1 or 2")
	cmd.Flags().Float64Var(&fontSize, "font-size", plots.FontSize, "label size in points; other texts are in proportion")
	cmd.Flags().StringSliceVar(&formats, "format", plots.Formats, "png, svg, pdf")
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder of the figures (default: plots next to the first records)")
	return cmd
}

// chooseRecords keeps the records of some data sets and mechanisms, and all
// baselines.
func chooseRecords(l *loaded, datasets, mechanisms []string) error {
	for _, c := range []struct {
		what   string
		chosen []string
		of     func(results.Record) string
	}{
		{"dataset", datasets, func(r results.Record) string { return r.Dataset }},
		{"mechanism", mechanisms, func(r results.Record) string { return r.Mechanism }},
	} {
		there := results.Distinct(l.Records, c.of)
		for _, name := range c.chosen {
			if err := check.OneOf(c.what, name, there...); err != nil {
				return err
			}
		}
		if len(c.chosen) > 0 {
			l.Records = results.Where(l.Records, func(r results.Record) bool {
				return slices.Contains(c.chosen, c.of(r)) || c.what == "mechanism" && r.IsBaseline()
			})
		}
	}
	return nil
}
