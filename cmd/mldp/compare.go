package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/published"
)

func init() { commands = append(commands, newCompareCommand) }

func newCompareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare A B | RESULTS | --published RESULTS... | --published-only",
		Short: "Compare two runs, or results with the published tables",
		Long: `Compare A B compares two runs (files, or folders of runs). For each data set,
mechanism, ε and metric it gives both values, the difference with its 95%
interval and a p-value that is Holm-corrected over all tests. Names of studies,
and embeddings, models or seeds that all cells of a run share, may differ.
Repetitions are compared by Welch's test, single ones on the same documents by
McNemar's. It lists changes beyond chance, or everything with --all.

Compare RESULTS compares every cell that Meisenbacher et al. 2024 print with
ours. Verdicts by protocol come first: each is a way in which a metric may have
been measured (test text private or plain, a definition, a policy) and is judged
over all of its cells. The published value, our mean with its 95% interval, the
difference and a class follow: agrees, differs, or not comparable, with the
cause where one is known. S_w is compared without the word itself, as published.
Cells of Table 9 that contradict the paper's other tables are replaced by the
values computed from those, with a note. With --published several RESULTS are
joined.

With --published-only no results are needed: the papers' printed numbers are
recomputed from their other printed numbers, and contradictions are listed.

Exit codes of compare A B: 0 nothing changed, 1 something changed, 2 wrong usage
or files that cannot be read.`,
		Example: `  mldp compare results/yesterday results/today
  mldp compare --json --level 0.01 results/yesterday results/today
  mldp compare results/comparative
  mldp compare --published results/comparative results/comparative-released
  mldp compare --published-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.publishedOnly != (len(args) == 0):
				return &exitError{exitUsage, errors.New("compare takes results, or --published-only and none")}
			case !o.published && len(args) > 2:
				return &exitError{exitUsage, errors.New("compare takes two runs; --published joins more")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(check.OneOf("format", o.format, results.TableFormats...),
				check.NonNegative("margin", o.margin), check.Inside("level", o.level, 0, 1)); err != nil {
				return &exitError{exitUsage, err}
			}
			switch {
			case o.publishedOnly:
				return auditPublished(cmd.OutOrStdout(), o.format)
			case len(args) == 2 && !o.published:
				return compareRuns(cmd.OutOrStdout(), args[0], args[1], o)
			}
			return compareResults(cmd.OutOrStdout(), args, o.margin, o.format)
		},
	}
	cmd.Flags().BoolVar(&o.publishedOnly, "published-only", false, "audit the papers' own arithmetic")
	cmd.Flags().BoolVar(&o.published, "published", false, "join the results and compare them with the published tables")
	cmd.Flags().Float64Var(&o.margin, "margin", published.DefaultMargin,
		"difference to a published number, in points, that always agrees")
	cmd.Flags().Float64Var(&o.level, "level", 0.05, "probability of reporting any change between equal runs")
	cmd.Flags().StringSliceVar(&o.metrics, "metrics", nil, "columns to compare (default: those that the gate watches)")
	cmd.Flags().BoolVar(&o.all, "all", false, "also list what did not change")
	cmd.Flags().BoolVar(&o.json, "json", false, "write all differences as JSON")
	cmd.Flags().StringVar(&o.format, "format", "md", "md, tex or csv")
	return cmd
}

type compareOptions struct {
	publishedOnly, published, all, json bool
	margin, level                       float64
	metrics                             []string
	format                              string
}

func compareRuns(w io.Writer, pathA, pathB string, o compareOptions) error {
	columns := slices.DeleteFunc(slices.Clone(results.Registry()),
		func(c results.Column) bool { return c.Threshold == 0 })
	if len(o.metrics) > 0 {
		columns = nil
		for _, name := range o.metrics {
			c, err := results.FindColumn(name)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			columns = append(columns, c)
		}
	}
	var runs [2][]results.Record
	for i, path := range []string{pathA, pathB} {
		l, err := loadRuns([]string{path})
		if err != nil {
			return &exitError{exitIncomparable, err}
		}
		runs[i] = l.Records
	}
	c, err := results.CompareRuns(runs[0], runs[1], columns, o.level)
	if err != nil {
		return &exitError{exitIncomparable, err}
	}
	if len(c.Differences) == 0 {
		return &exitError{exitIncomparable, fmt.Errorf("%s and %s have no cell and metric in common", pathA, pathB)}
	}
	if o.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		err = e.Encode(c)
	} else {
		err = c.Table(o.all).Write(w, o.format)
	}
	if err != nil {
		return err
	}
	if c.Changed > 0 {
		return fmt.Errorf("%d metrics of %s differ from %s beyond chance", c.Changed, pathB, pathA)
	}
	return nil
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
