package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
)

type runOptions struct {
	overrides study.Overrides
	command   commandOptions
	data      string
	out       string
	figures   string
	workers   int
	shard     string
	audit     bool
	levels    results.Levels
	fetches   bool
	dry       bool
	again     bool
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	dataFlag(cmd, &o.data)
	setFlag(f, &o.overrides.Set)
	f.StringSliceVar(&o.overrides.Datasets, "dataset", nil, "only these data sets")
	f.StringSliceVar(&o.overrides.Mechanisms, "mechanism", nil, "only these mechanisms, as name or name:variant")
	o.command.addFlags(cmd)
	f.Float64SliceVar(&o.overrides.Epsilons, "epsilons", nil, "these `numbers` instead of the study's")
	countFlag(f, &o.overrides.Repetitions, "repetitions", 0, 1, "repetitions; baselines in proportion")
	countFlag(f, &o.workers, "workers", 0, 1, "units at a time (default: number of cores)")
	outFlag(f, &o.out, "", "folder of the results (default: runs/STUDY)")
	f.StringVar(&o.figures, "figures", "", "folder for the figures, as SVG and PNG; its files are replaced")
	f.StringVar(&o.shard, "shard", "1/1", "i/n: only the i-th of n parts of the study; see mldp merge")
	f.Uint64("seed", 0, "seed instead of the study's")
	f.BoolVar(&o.fetches, "fetch", false, "download data that is missing")
	f.BoolVar(&o.audit, "audit", false, "audit the study's mechanisms as well, on the words of its first data "+
		"set and embedding")
	f.BoolVar(&o.dry, "dry-run", false, "units, minutes and memory, by one unit of each "+
		"kind, which is run and kept")
	f.BoolVar(&o.again, "again", false, "run these cells of the folder again, finished or not, and keep its others")
	alignFlag(f, &o.levels)
	for _, name := range []string{"align", "shard", "dry-run"} {
		cmd.MarkFlagsMutuallyExclusive("again", name)
	}
	for _, name := range []string{"align", "audit", "figures"} { // they are of a whole run
		cmd.MarkFlagsMutuallyExclusive("shard", name)
		cmd.MarkFlagsMutuallyExclusive("dry-run", name)
	}
}

func newRunCommand() *cobra.Command {
	var o runOptions
	cmd := completes(command("run", "STUDY|FILE.yaml"), studies)
	o.addFlags(cmd)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
		if cmd.Flags().Changed("seed") {
			o.overrides.Set = append(o.overrides.Set, "seed="+cmd.Flag("seed").Value.String())
		}
		if o.command.line != "" {
			own, err := o.command.entry()
			if err != nil {
				return err
			}
			o.overrides.Own = []study.MechanismSpec{own}
		}
		options := engine.Options{Out: o.out, Workers: o.workers, Sample: o.dry, Log: stderr, Version: mldpVersion(),
			Command: commandLine(ctx), Again: o.again}
		shard, err := engine.ParseShard(o.shard)
		if err != nil {
			return usage(err)
		}
		options.Shard = shard
		s, err := openStudy(args[0], o.data, o.overrides)
		if err == nil && o.levels.Quantity != "" && s.Task != "" && o.overrides.Repetitions == 0 {
			o.overrides.Repetitions = experiments.AlignedRepetitions
			s, err = openStudy(args[0], o.data, o.overrides)
		}
		if err != nil {
			return err
		}
		warnStudy(stderr, s.Study)
		if options.Force, err = cmd.Flags().GetBool("force"); err != nil {
			return err
		}
		m, err := engine.ReadManifest(filepath.Join(o.out, "manifest.json"))
		if o.out != "" && !options.Force && err == nil && m.Study != s.Name {
			return check.Wrong("%s holds a run of the study %q: choose another --out for %q, or say --force", o.out,
				m.Study, s.Name)
		}
		// Data that is missing is fetched, or the error tells how to get all of it.
		missing, err := s.Missing(o.data)
		if err == nil {
			err = provide(ctx, missing, o.fetches, o.data, stderr)
		}
		if err != nil {
			return err
		}
		var summary *engine.Summary
		if o.levels.Quantity != "" {
			summary, err = experiments.RunAligned(ctx, s.Study, o.data, options, o.levels)
		} else {
			summary, err = s.Run(ctx, o.data, options)
		}
		if errors.Is(err, engine.ErrInterrupted) && summary != nil {
			return fmt.Errorf("%w: %d of %d units are finished and kept; the same command continues with the rest",
				err, summary.Reused+summary.Ran, summary.Total)
		} else if err != nil {
			return err
		}
		fmt.Fprintf(stderr, "%d units: %d run, %d finished before\n", summary.Total, summary.Ran, summary.Reused)
		if o.dry {
			return a.table("estimate", []string{"units", "finished", "minutes left", "MiB"}, [][]any{{summary.Total,
				summary.Ran + summary.Reused, math.Ceil(summary.Left.Minutes()), math.Ceil(engine.PeakMemoryMiB())}})
		}
		if shard.Count > 1 { // the page is that of the merged study
			a.wrote(summary.Dir, filepath.Join(summary.Dir, shard.File("results", ".csv")))
			return nil
		}
		var failed error // the page is written all the same
		if o.audit {
			failed = auditStudy(ctx, s, o.data, filepath.Join(summary.Dir, auditFile), stderr)
		}
		return errors.Join(failed, writeOutputs(a, stderr, summary, outcome{levels: o.levels, figures: o.figures}))
	})
}
