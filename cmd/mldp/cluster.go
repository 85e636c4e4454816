package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/internal/check"
)

func init() {
	addCommand(clusterGroup, newSlurmCommand)
	addCommand(clusterGroup, newStatusCommand)
	addCommand(clusterGroup, newMergeCommand)
}

// newSlurmCommand writes the script of a study in shards.
func newSlurmCommand() *cobra.Command {
	var j experiments.SlurmJob
	cmd := completes(command("slurm", "STUDY|FILE.yaml [SBATCH-OPTION...]"), studies)
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		atDash := cmd.ArgsLenAtDash()
		if atDash > 1 || atDash < 0 && len(args) > 1 {
			return check.Wrong("%s: options of sbatch come after --", args[1])
		}
		j.Call, err = callOf(cmd)
		if err != nil {
			return err
		}
		j.Study = args[0]
		j.Options = args[1:]
		j.Stdout = cmd.OutOrStdout()
		return experiments.WriteSlurmJob(cmd.Context(), j)
	}
	f := cmd.Flags()
	setFlag(f, &j.Overrides.Set)
	outFlag(f, &j.Out, "", "shared folder of the results (default: runs/STUDY)")
	countFlag(f, &j.Shards, "shards", 0, 1, "parts of the study, each a task of the array")
	require(cmd, "shards")
	return cmd
}

// newStatusCommand says how far shards are.
func newStatusCommand() *cobra.Command {
	cmd := command("status", "FOLDER")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		return experiments.Status(cmd.Context(), call, args[0])
	})
}

// newMergeCommand joins shards.
func newMergeCommand() *cobra.Command {
	var m experiments.Merging
	cmd := command("merge", "FOLDER...")
	outFlag(cmd.Flags(), &m.Out, "", "folder of the joined results (default: the one folder given)")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		m.Call = call
		m.Folders = args
		return experiments.Merge(cmd.Context(), m)
	})
}
