package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/results/analysis"
)

func init() {
	addCommand(studyGroup, newCheckCommand)
	addCommand(studyGroup, newCompareCommand)
}

// mostChanges is the number of changed numbers that are printed. As JSON there is every one.
func mostChanges(call experiments.Call) int {
	if call.Show == nil {
		return -1
	}
	return 20
}

// newCompareCommand says what differs between runs.
func newCompareCommand() *cobra.Command {
	var c experiments.Comparing
	cmd := command("compare", "RESULTS...")
	f := cmd.Flags()
	f.BoolVar(&c.Published, "published", false, "join the results and compare them with the published tables")
	alignFlag(f, &c.Levels)
	cmd.MarkFlagsMutuallyExclusive("align", "published")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		c.Call = call
		c.Runs = args
		c.Most = mostChanges(call)
		return experiments.Compare(cmd.Context(), c)
	})
}

// newCheckCommand says whether results are worse than a baseline.
func newCheckCommand() *cobra.Command {
	var c experiments.Checking
	cmd := command("check", "RESULTS")
	f := cmd.Flags()
	f.StringVar(&c.Baseline, "baseline", "", "results to compare with")
	f.Float64Var(&c.Level, "level", analysis.GateLevel, "probability of a false alarm over all tests")
	require(cmd, "baseline")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		c.Call = call
		c.Results = args[0]
		c.Most = mostChanges(call)
		return experiments.Check(cmd.Context(), c)
	})
}
