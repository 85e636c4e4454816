package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/compare"
	"mldpbench/results/tables"
)

func newCheckCommand() *cobra.Command {
	var baseline, junit string
	var level float64
	cmd := command("check", "check --baseline BASELINE RESULTS", cobra.ExactArgs(1))
	cmd.Flags().StringVar(&baseline, "baseline", "", "results to compare with")
	cmd.Flags().StringVar(&junit, "junit", "", "also write a JUnit XML report to this file")
	cmd.Flags().Float64Var(&level, "level", compare.GateLevel, "probability of a false alarm over all tests")
	require(cmd, "baseline")
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		if err := check.Inside("level", level, 0, 1); err != nil {
			return err
		}
		c, err := compareRuns(baseline, args[0], compare.Options{Level: level, Thresholds: true})
		if err != nil {
			return err
		}
		if junit != "" {
			if err := atomicfile.Write(junit, 0o644, func(w io.Writer) error {
				return tables.WriteJUnit(w, c)
			}); err != nil {
				return err
			}
		}
		return printComparison(a, c, "md")
	})
}

// compareRuns compares two runs. Files that cannot be read are wrong usage.
func compareRuns(before, after string, o compare.Options) (*compare.Comparison, error) {
	var views [2]*results.Prepared
	for i, path := range []string{before, after} {
		p, _, err := loadRuns([]string{path})
		if err != nil {
			return nil, unreadable(err)
		}
		views[i] = p
	}
	return compare.Runs(views[0], views[1], o), nil
}

// unreadable makes an error of reading results one of usage, except for results
// without rows.
func unreadable(err error) error {
	var v *verdict
	if errors.As(err, &v) {
		return err
	}
	return usage(err)
}

// mostChanges is the number of changed numbers that are printed.
const mostChanges = 20

// printComparison prints what changed, and returns the exit code of it.
func printComparison(a *answer, c *compare.Comparison, format string) error {
	for _, t := range []tables.Table{tables.Changes(c, mostChanges), tables.Tests(c)} {
		if len(t.Rows) > 0 {
			if err := t.Write(a.text, format); err != nil {
				return err
			}
		}
	}
	a.add("changes", c.Changes)
	a.add("tests", c.Tests)
	a.add("outcome", []struct{ Outcome, Sentence string }{{c.Outcome().String(), c.Sentence()}})
	fmt.Fprintln(a.text, c.Sentence())
	return outcome(c)
}

// outcome is the exit code of a comparison.
func outcome(c *compare.Comparison) error {
	switch c.Outcome() {
	case compare.Changed:
		return &verdict{exitFailure, c.Sentence()}
	case compare.Incomplete:
		return &verdict{exitNothing, c.Sentence()}
	}
	return nil
}
