package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

type compareOptions struct {
	publishedOnly, published bool
	margin                   float64
	format                   string
	levels                   results.Levels
	runs                     compare.Options
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
  mldp compare --level 0.01 runs/yesterday runs/today
  mldp compare --align em=0.5,0.8 runs/mini
  mldp compare --published runs/comparative runs/comparative-released
  mldp compare --published-only`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case o.publishedOnly != (len(args) == 0):
				return errors.New("compare takes results, or --published-only and none")
			case !o.published && o.levels.Quantity == "" && len(args) == 1:
				return errors.New("compare takes two runs or more; with --published or --align one is enough")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.publishedOnly, "published-only", false, "audit the papers' own arithmetic")
	f.BoolVar(&o.published, "published", false, "join the results and compare them with the published tables")
	f.Float64Var(&o.margin, "margin", published.DefaultMargin,
		"difference to a published number, in points, that always agrees")
	f.Float64Var(&o.runs.Level, "level", 0.05, "probability of reporting any change between equal runs")
	f.StringSliceVar(&o.runs.Quantities, "metric", nil, "quantities to compare (default: all)")
	f.StringVar(&o.format, "format", "md", "md, tex or csv")
	alignFlag(f, &o.levels)
	for _, other := range []string{"published", "published-only", "metric", "level"} {
		cmd.MarkFlagsMutuallyExclusive("align", other)
	}
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		if err := errors.Join(check.OneOf("format", o.format, tables.Formats...),
			check.NonNegative("margin", o.margin), check.Inside("level", o.runs.Level, 0, 1)); err != nil {
			return err
		}
		for _, name := range o.runs.Quantities {
			if _, err := results.FindColumn(name); err != nil {
				return usage(err)
			}
		}
		switch {
		case o.publishedOnly:
			audit, err := published.AuditArithmetic()
			if err != nil {
				return err
			}
			return a.paper(o.format, audit.ChecksTable(), audit.ErrataTable())
		case o.published:
			return o.withPublished(args, a)
		case o.levels.Quantity != "":
			return o.aligned(args, a)
		case len(args) > 2:
			return o.history(args, a)
		}
		c, err := compareRuns(args[0], args[1], o.runs)
		if err != nil {
			return err
		}
		return printComparison(a, c, o.format)
	})
}

// history compares each run with the one before it.
func (o *compareOptions) history(paths []string, a *answer) error {
	var views []*results.Prepared
	for _, path := range paths {
		p, _, err := loadRuns([]string{path})
		if err != nil {
			return unreadable(err)
		}
		views = append(views, p)
	}
	steps := compare.History(views, o.runs)
	if err := a.paper(o.format, tables.History(steps)); err != nil {
		return err
	}
	for _, step := range steps {
		if err := outcome(step); err != nil {
			return err
		}
	}
	return nil
}

// aligned compares the mechanisms of joined results at equal privacy.
func (o *compareOptions) aligned(paths []string, a *answer) error {
	p, _, err := loadRuns(paths)
	if err != nil {
		return err
	}
	p.Levels = o.levels
	all := tables.Equal(p)
	if len(all) == 0 {
		return &verdict{exitNothing, "no two mechanisms were measured on both sides of " + fmt.Sprintf(o.levels.Phrase,
			o.levels.At[0])}
	}
	return a.paper(o.format, all...)
}

// withPublished compares joined results with the published tables.
func (o *compareOptions) withPublished(paths []string, a *answer) error {
	p, _, err := loadRuns(paths)
	if err != nil {
		return err
	}
	comparisons, err := published.Compare(p, o.margin)
	if err != nil {
		return err
	}
	all := published.CompareTables(p, comparisons)
	if len(all) == 0 {
		return &verdict{exitNothing, fmt.Sprintf("none of the %d cells has a published counterpart", len(p.Cells))}
	}
	if o.format == "csv" && len(comparisons) > 0 { // one table, one header
		all = []tables.Table{published.CompareTable(comparisons)}
	}
	return a.paper(o.format, all...)
}
