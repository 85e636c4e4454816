package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments/engine"
	"mldpbench/internal/check"
	"mldpbench/results"
)

func newMergeCommand() *cobra.Command {
	var out string
	cmd := command("merge", "merge FOLDER...", cobra.MinimumNArgs(1))
	outFlag(cmd.Flags(), &out, "", "folder of the joined results (default: the one folder given)")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if out == "" && len(args) > 1 {
			return check.Wrong("merge of several folders: give the target with --out")
		}
		s, err := engine.Merge(args, cmp.Or(out, args[0]))
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d units\n", s.Reused, s.Total)
		return writeOutputs(a, cmd.ErrOrStderr(), s, nil, false, results.Levels{})
	})
}
