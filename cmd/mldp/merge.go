package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments/engine"
	"mldpbench/results"
)

func newMergeCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "merge FOLDER...",
		Short: "Join the results of shards",
		Long: `Merge joins the output of mldp run --shard, from one shared folder or from
several, into the results that a single run would have written and writes their
page. It is an error if parts belong to different studies, schemas
or data, or if two parts report a unit differently (except for timing). A unit
that no part has is an error.`,
		Example: `  mldp merge runs/mini
  mldp merge node1/mini node2/mini --out runs/mini`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				if len(args) > 1 {
					return &exitError{exitUsage, fmt.Errorf("merge of several folders: give the target with --out")}
				}
				out = args[0]
			}
			s, err := engine.Merge(args, out)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d units\n", s.Reused, s.Total)
			return writeOutputs(cmd.OutOrStdout(), cmd.ErrOrStderr(), s, engine.Shard{}, nil, false, results.Levels{})
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder of the joined results (default: the one folder given)")
	return cmd
}
