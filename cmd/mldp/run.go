package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(studyGroup, newRunCommand) }

// newRunCommand runs a study.
func newRunCommand() *cobra.Command {
	var r experiments.Running
	cmd := completes(command("run", "STUDY|FILE.yaml"), studies)
	runFlags(cmd, &r)
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, args []string) (*experiments.Outcome, error) {
		r.Call = call
		r.Study = args[0]
		r.Overrides.Set = append(r.Overrides.Set, seedKey(cmd)...)
		return experiments.Run(cmd.Context(), r)
	})
}

// parseRun reads the arguments of mldp run.
func parseRun(arguments []string) (r experiments.Running, err error) {
	cmd := command("run", "STUDY|FILE.yaml")
	runFlags(cmd, &r)
	err = cmd.ParseFlags(arguments[1:])
	r.Study = cmd.Flags().Arg(0)
	r.Overrides.Set = append(r.Overrides.Set, seedKey(cmd)...)
	return r, err
}

// seedKey sets the key of a study that --seed is instead of, if it is given.
func seedKey(cmd *cobra.Command) []string {
	seed := cmd.Flag("seed")
	if !seed.Changed {
		return nil
	}
	return []string{"seed=" + seed.Value.String()}
}

// runFlags are those of mldp run.
func runFlags(cmd *cobra.Command, r *experiments.Running) {
	f := cmd.Flags()
	setFlag(f, &r.Overrides.Set)
	f.StringSliceVar(&r.Overrides.Datasets, "dataset", nil, "only these data sets")
	f.StringSliceVar(&r.Overrides.Mechanisms, "mechanism", nil, "only these mechanisms, as name or name:variant")
	programFlag(cmd, &r.Program)
	f.Float64SliceVar(&r.Overrides.Epsilons, "epsilons", nil, "these `numbers` instead of the study's")
	countFlag(f, &r.Overrides.Repetitions, "repetitions", 0, 1, "repetitions; baselines in proportion")
	countFlag(f, &r.Workers, "workers", 0, 1, "units at a time (default: number of cores)")
	outFlag(f, &r.Out, "", "folder of the results (default: runs/STUDY)")
	f.StringVar(&r.Figures, "figures", "", "folder for the figures, as SVG and PNG; its files are replaced")
	f.StringVar(&r.Shard, "shard", "1/1", "i/n: only the i-th of n parts of the study; see mldp merge")
	f.Uint64("seed", 0, "seed instead of the study's")
	f.BoolVar(&r.Fetch, "fetch", false, "download data that is missing")
	f.BoolVar(&r.Audit, "audit", false, "audit the study's mechanisms as well, on the words of its first data "+
		"set and embedding")
	f.BoolVar(&r.DryRun, "dry-run", false, "units, minutes and memory, by one unit of each "+
		"kind, which is run and kept")
	f.BoolVar(&r.Again, "again", false, "run these cells of the folder again, finished or not, and keep its others")
	alignFlag(f, &r.Levels)
	for _, name := range []string{"align", "shard", "dry-run"} {
		cmd.MarkFlagsMutuallyExclusive("again", name)
	}
	for _, name := range []string{"audit", "figures"} { // they are of a whole run
		cmd.MarkFlagsMutuallyExclusive("shard", name)
		cmd.MarkFlagsMutuallyExclusive("dry-run", name)
	}
	cmd.MarkFlagsMutuallyExclusive("shard", "align")
}
