package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

type compareOptions struct {
	publishedOnly, published, all, json bool
	margin, level                       float64
	metrics                             []string
	format                              string
	align                               alignFlag
}

func newCompareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare A B... | --align AXIS=LEVELS RESULTS... | --published RESULTS... | --published-only",
		Short: "Compare runs, or results with the published tables",
		Long: `Compare A B compares two runs (files, or folders of runs), cell by cell and
quantity by quantity. Where seed and data are equal, any difference is a change.
Else changes are tested: paired by test documents where both have their outcomes,
by the spread of repetitions elsewhere, with p-values Holm-corrected over all
tests and the change that each could have found. More than two runs are compared
each with the one before it.

With --align the mechanisms of RESULTS are compared with each other at equal
privacy: which keeps most, who is told apart from whom, the difference that could
have been found, and where the order changes with the measure of privacy.

With --published every cell that Meisenbacher et al. 2024 print is compared with
ours. Rows of the study replication, which computes as that study's own code does,
come first: its numbers beside the printed ones, and what causes them. The
published value, our mean with its 95% interval, the difference and a class follow
for what was measured as the study describes it. Several RESULTS are joined.

With --published-only no results are needed: the papers' printed numbers are
recomputed from their other printed numbers, and contradictions are listed.

Exit codes: 0 nothing changed, 1 something changed, 2 wrong usage or files that
cannot be read, 3 not compared as a whole: other studies or data, missing cells,
or nothing to test.`,
		Example: `  mldp compare runs/yesterday runs/today
  mldp compare --json --level 0.01 runs/yesterday runs/today
  mldp compare --align em=0.5,0.8 runs/mini
  mldp compare --published runs/comparative runs/comparative-released
  mldp compare --published-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.publishedOnly != (len(args) == 0):
				return errors.New("compare takes results, or --published-only and none")
			case !o.published && o.align.Quantity == "" && len(args) == 1:
				return errors.New("compare takes two runs or more; with --published or --align one is enough")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(check.OneOf("format", o.format, tables.Formats...),
				check.NonNegative("margin", o.margin), check.Inside("level", o.level, 0, 1)); err != nil {
				return &exitError{exitUsage, err}
			}
			for _, name := range o.metrics {
				if _, err := results.FindColumn(name); err != nil {
					return &exitError{exitUsage, err}
				}
			}
			out := cmd.OutOrStdout()
			switch {
			case o.publishedOnly:
				return auditPublished(out, o.format)
			case o.published:
				return comparePublished(out, args, o.margin, o.format)
			case o.align.Quantity != "":
				return compareMechanisms(out, args, o.align.Levels, o.format)
			case len(args) > 2:
				return o.history(out, args)
			}
			c, err := compareRuns(args[0], args[1], o.options())
			if err != nil {
				return err
			}
			if o.json {
				e := json.NewEncoder(out)
				e.SetIndent("", "  ")
				err = e.Encode(c)
			} else {
				err = printComparison(out, c, o.all, o.format)
			}
			return errors.Join(err, outcome(c))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.publishedOnly, "published-only", false, "audit the papers' own arithmetic")
	f.BoolVar(&o.published, "published", false, "join the results and compare them with the published tables")
	f.Float64Var(&o.margin, "margin", published.DefaultMargin,
		"difference to a published number, in points, that always agrees")
	f.Float64Var(&o.level, "level", 0.05, "probability of reporting any change between equal runs")
	f.StringSliceVar(&o.metrics, "metric", nil, "quantities to compare (default: all)")
	f.BoolVar(&o.all, "all", false, "also list what did not change")
	f.BoolVar(&o.json, "json", false, "write all tests as JSON")
	f.StringVar(&o.format, "format", "md", "md, tex or csv")
	o.align.add(cmd)
	for _, other := range []string{"published", "published-only", "metric", "all", "json", "level"} {
		cmd.MarkFlagsMutuallyExclusive("align", other)
	}
	return cmd
}

func (o compareOptions) options() compare.Options {
	return compare.Options{Level: o.level, Quantities: o.metrics}
}

// history compares each run with the one before it.
func (o compareOptions) history(w io.Writer, paths []string) error {
	var views []*results.Prepared
	for _, path := range paths {
		p, _, err := loadRuns([]string{path})
		if err != nil {
			return unreadable(err)
		}
		views = append(views, p)
	}
	steps := compare.History(views, o.options())
	if err := tables.History(steps).Write(w, o.format); err != nil {
		return err
	}
	for _, step := range steps {
		if err := outcome(step); err != nil {
			return err
		}
	}
	return nil
}

func auditPublished(w io.Writer, format string) error {
	all, err := published.Arithmetic()
	if err != nil {
		return err
	}
	return errors.Join(all[0].Write(w, format), all[1].Write(w, format))
}

func comparePublished(w io.Writer, paths []string, margin float64, format string) error {
	p, _, err := loadRuns(paths)
	if err != nil {
		return err
	}
	all := published.Tables(p, margin)
	if len(all) == 0 {
		return &exitError{exitNothing, fmt.Errorf("none of the %d cells has a published counterpart", len(p.Cells))}
	}
	if last := all[len(all)-1]; format == "csv" && last.Name == "compare" { // one table, one header
		return last.Write(w, format)
	}
	for _, t := range all {
		if err := t.Write(w, format); err != nil {
			return err
		}
	}
	return nil
}
