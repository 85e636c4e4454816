package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/results"
)

// Exit codes of mldp check in addition to 0 and 1.
const (
	exitIncomparable    = 2
	exitNothingMeasured = 3
)

func init() { commands = append(commands, newCheckCommand) }

func newCheckCommand() *cobra.Command {
	var baseline, junit string
	var level float64
	cmd := &cobra.Command{
		Use:   "check --baseline BASELINE.csv RESULTS",
		Short: "Fail when results regressed against a baseline",
		Long: `Check compares results (a file, or the folder of a run) with a baseline of the
same study, metric by metric: each data set as a whole, each mechanism on it,
each cell. It fails where a mean changed by more than the metric's threshold and
beyond chance, in either direction, where a cell of the baseline is missing, and
where a guarantee is no longer given. Noise alone (another seed) raises an alarm
with probability at most --level.

Exit codes: 0 same, 1 regressed, 2 wrong usage, or files that cannot be read or
compared, 3 nothing was measured.`,
		Example: `  mldp check --baseline results/reference/mini.csv results/mini/results.csv
  mldp check --baseline results/reference/mini.csv --junit check.xml results/mini/results.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := cobra.ExactArgs(1)(cmd, args); err != nil {
				return &exitError{exitUsage, err}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if baseline == "" {
				return &exitError{exitUsage, errors.New("check needs --baseline")}
			}
			if err := check.Inside("level", level, 0, 1); err != nil {
				return &exitError{exitUsage, err}
			}
			return checkResults(cmd.OutOrStdout(), baseline, args[0], junit, level)
		},
	}
	cmd.Flags().StringVar(&baseline, "baseline", "", "results to compare with")
	cmd.Flags().StringVar(&junit, "junit", "", "also write a JUnit XML report to this file")
	cmd.Flags().Float64Var(&level, "level", results.DefaultGateLevel, "probability of a false alarm over all tests")
	return cmd
}

func checkResults(w io.Writer, baselinePath, path, junit string, level float64) error {
	baseline, err := readRecords(baselinePath)
	if err != nil {
		return &exitError{exitIncomparable, err}
	}
	current, err := readRecords(path)
	if err != nil {
		return &exitError{exitIncomparable, err}
	}
	report, err := results.Gate(baseline, current, level)
	if err != nil {
		return &exitError{exitIncomparable, err}
	}
	if junit != "" {
		if err := atomicfile.Write(junit, 0o644, report.WriteJUnit); err != nil {
			return err
		}
	}
	if report.Cells == 0 {
		return &exitError{exitNothingMeasured, fmt.Errorf("%s has no cell of the baseline: nothing was measured", path)}
	}
	if err := report.Table().WriteMarkdown(w); err != nil {
		return err
	}
	if report.Failed() {
		return &exitError{exitFailure, fmt.Errorf("%s regressed against %s", path, baselinePath)}
	}
	return nil
}
