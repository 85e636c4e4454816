package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

func newSlurmCommand() *cobra.Command {
	var o study.Overrides
	var data string
	var job cluster.Slurm
	cmd := completes(command("slurm", "STUDY|FILE.yaml [SBATCH-OPTION...]"), studies)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); n > 1 || n < 0 && len(args) > 1 {
			return check.Wrong("%s: options of sbatch come after --", args[1])
		}
		s, err := openStudy(args[0], data, o)
		if err != nil {
			return err
		}
		job.Name, job.Study, job.Options = "mldp-"+s.Name, args[0], args[1:]
		job.Flags = list.Map(o.Set, func(a string) string { return "--set=" + a })
		if data != "" {
			job.Flags = append(job.Flags, "--data="+data)
		}
		job.Out = cmp.Or(job.Out, filepath.Join("runs", s.Name))
		if job.WorkDir, err = os.Getwd(); err != nil {
			return err
		}
		if job.Program, err = os.Executable(); err != nil {
			return err
		}
		if job.Shards > cluster.MostShards {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %d shards: an array of Slurm has tasks up to %d, unless its "+
				"MaxArraySize says otherwise (scontrol show config)\n", job.Shards, cluster.MostShards)
		}
		return usage(job.Script(cmd.OutOrStdout()))
	}
	f := cmd.Flags()
	dataFlag(cmd, &data)
	setFlag(f, &o.Set)
	outFlag(f, &job.Out, "", "shared folder of the results (default: runs/STUDY)")
	countFlag(f, &job.Shards, "shards", 0, 1, "parts of the study, each a task of the array")
	require(cmd, "shards")
	return cmd
}

func newStatusCommand() *cobra.Command {
	cmd := command("status", "FOLDER")
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		shards, total, err := engine.ReadProgress(args[0])
		if err != nil {
			return fmt.Errorf("%s: no run here: %w", args[0], err)
		}
		var rows [][]any
		done, failed := 0, 0
		for _, s := range shards {
			done, failed = done+s.Done, failed+s.Failed
			row := []any{cmp.Or(s.Shard, "1/1"), s.Units, s.Done, s.Failed}
			if !s.Started {
				row = []any{s.Shard, nil, nil, nil}
			}
			rows = append(rows, row)
		}
		rows = append(rows, []any{"all", total, done, failed})
		if err := a.table("progress", []string{"shard", "units", "done", "failed"}, rows); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.text, "%d of %d units are left\n", total-done, total)
		return err
	})
}

func newMergeCommand() *cobra.Command {
	var out string
	cmd := command("merge", "FOLDER...")
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
		return writeOutputs(a, cmd.ErrOrStderr(), s, outcome{})
	})
}
