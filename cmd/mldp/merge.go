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
	var partial bool
	cmd := &cobra.Command{
		Use:   "merge FOLDER|RESULTS.csv...",
		Short: "Join the results of shards",
		Long: `Merge joins the output of mldp run --shard, from one shared folder or from
several, into the results that a single run would have written and writes their
page. It is an error if parts belong to different studies, schemas
or data, or if two parts report a unit differently (except for timing). A unit
that no part has is an error unless --partial is given.`,
		Example: `  mldp merge runs/mini
  mldp merge node1/mini node2/mini --out runs/mini`,
		Args: cobra.MinimumNArgs(1),
	}
	outFlag(cmd.Flags(), &out, "", "folder of the joined results (default: the one folder given)")
	cmd.Flags().BoolVar(&partial, "partial", false, "accept missing units")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if out == "" && len(args) > 1 {
			return check.Wrong("merge of several folders: give the target with --out")
		}
		s, err := engine.Merge(args, cmp.Or(out, args[0]), partial)
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d units\n", s.Reused, s.Total)
		return writeOutputs(a, cmd.ErrOrStderr(), s, nil, false, results.Levels{})
	})
}
