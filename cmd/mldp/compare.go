package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/published"
)

func init() { commands = append(commands, newCompareCommand) }

func newCompareCommand() *cobra.Command {
	var publishedOnly bool
	var margin float64
	var format string
	cmd := &cobra.Command{
		Use:   "compare RESULTS... | --published-only",
		Short: "Compare results with the published tables, or those with each other",
		Long: `Compare sets every cell that Meisenbacher et al. 2024 print beside ours: published
value, our mean with its 95% interval, the difference, and a class: agrees,
differs, or not comparable, with the cause where one is known. RESULTS are files
or folders of runs, which are joined. Counts by metric and by mechanism come
first, of the variants that the published tables measured; other variants are
listed, and say so. S_w is compared without the word itself, as published; cells
of Table 9 that contradict the paper's other tables are replaced by what those
give, and say so.

With --published-only no results are needed: the papers' printed numbers are
recomputed from their other printed numbers, and what does not follow is listed.`,
		Example: `  mldp compare results/comparative results/comparative-released
  mldp compare --published-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			if publishedOnly != (len(args) == 0) {
				return &exitError{exitUsage, errors.New("compare takes results, or --published-only and none")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := check.OneOf("format", format, results.TableFormats...); err != nil {
				return &exitError{exitUsage, err}
			}
			if err := check.NonNegative("margin", margin); err != nil {
				return &exitError{exitUsage, err}
			}
			if publishedOnly {
				return auditPublished(cmd.OutOrStdout(), format)
			}
			return compareResults(cmd.OutOrStdout(), args, margin, format)
		},
	}
	cmd.Flags().BoolVar(&publishedOnly, "published-only", false, "audit the papers' own arithmetic")
	cmd.Flags().Float64Var(&margin, "margin", published.DefaultMargin, "points of difference that always agree")
	cmd.Flags().StringVar(&format, "format", "md", "md, tex or csv")
	return cmd
}

func auditPublished(w io.Writer, format string) error {
	audit, err := published.AuditArithmetic()
	if err != nil {
		return err
	}
	if err := audit.ChecksTable().Write(w, format); err != nil {
		return err
	}
	return audit.ErrataTable().Write(w, format)
}

func compareResults(w io.Writer, paths []string, margin float64, format string) error {
	l, err := loadRuns(paths)
	if err != nil {
		return err
	}
	comparisons, err := published.Compare(l.Records, margin)
	if err != nil {
		return err
	}
	if len(comparisons) == 0 {
		_, err := fmt.Fprintf(w, "None of the %d records has a published counterpart.\n", len(l.Records))
		return err
	}
	if format == "csv" { // one table, one header
		return published.CompareTable(comparisons).Write(w, format)
	}
	for _, t := range published.CompareTables(comparisons) {
		if err := t.Write(w, format); err != nil {
			return err
		}
	}
	return nil
}
