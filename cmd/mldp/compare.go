package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/published"
	"mldpbench/results/views"
)

func newCompareCommand() *cobra.Command {
	var withPublished bool
	var levels results.Levels
	cmd := command("compare", "RESULTS...")
	cmd.Flags().BoolVar(&withPublished, "published", false, "join the results and compare them with the published tables")
	alignFlag(cmd.Flags(), &levels)
	cmd.MarkFlagsMutuallyExclusive("align", "published")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if !withPublished && levels.Quantity == "" {
			if len(args) != 2 {
				return check.Wrong("compare takes two runs; with --published or --align one or more")
			}
			return compareRuns(cmd.ErrOrStderr(), a, args[0], args[1], analysis.Options{})
		}
		read, err := loadRuns(cmd.ErrOrStderr(), levels, args...)
		if err != nil {
			return err
		}
		if withPublished {
			all := published.Tables(read.Prepared)
			if len(all) == 0 {
				return &verdict{exitNothing, fmt.Sprintf("none of the %d cells measures what the study printed: its texts or as "+
					"many of them, GloVe 6B, an LSTM", len(read.Cells))}
			}
			return a.show(all...)
		}
		err = a.show(views.Tables(read, results.Where(views.Builtin().Tables, func(v views.View) bool {
			return v.From == "equal" || v.From == "pairs"
		}))...)
		if !slices.ContainsFunc(read.Alignments("", levels.At[0]), func(s analysis.Alignment) bool {
			return s.Reached() > 1
		}) {
			err = errors.Join(err, &verdict{exitNothing, "no two mechanisms were measured on both sides of " +
				views.LevelOf(levels.Quantity, levels.At[0])})
		}
		return err
	})
}

func newCheckCommand() *cobra.Command {
	var baseline string
	var level float64
	cmd := command("check", "RESULTS")
	cmd.Flags().StringVar(&baseline, "baseline", "", "results to compare with")
	cmd.Flags().Float64Var(&level, "level", analysis.GateLevel, "probability of a false alarm over all tests")
	require(cmd, "baseline")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if err := check.Inside("level", level, 0, 1); err != nil {
			return err
		}
		return compareRuns(cmd.ErrOrStderr(), a, baseline, args[0], analysis.Options{Level: level, Thresholds: true})
	})
}

// mostChanges is the number of changed numbers that are printed.
const mostChanges = 20

// compareRuns prints what changed between two runs, and returns the exit code of it.
// As JSON there is every change and test.
func compareRuns(stderr io.Writer, a *answer, first, second string, o analysis.Options) error {
	before, err := loadRuns(stderr, results.Levels{}, first)
	if err != nil {
		return err
	}
	after, err := loadRuns(stderr, results.Levels{}, second)
	if err != nil {
		return err
	}
	c := analysis.Runs(before.Prepared, after.Prepared, o)
	most := mostChanges
	if a.text == io.Discard {
		most = -1
	}
	a.Tables["changes"], a.Tables["tests"] = []map[string]any{}, []map[string]any{}
	if err := a.show(views.Compared(c, most)...); err != nil {
		return err
	}
	a.Tables["outcome"] = []map[string]any{{"outcome": c.Outcome(), "sentence": c.Sentence()}}
	fmt.Fprintln(a.text, c.Sentence())
	switch c.Outcome() {
	case analysis.Changed:
		return &verdict{exitFailure, c.Sentence()}
	case analysis.Incomplete:
		return &verdict{exitNothing, c.Sentence()}
	}
	return nil
}
