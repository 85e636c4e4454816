package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/plan"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms/audit"
	"mldpbench/results"
)

type runOptions struct {
	overrides study.Overrides
	data      string
	out       string
	workers   int
	shard     string
	audit     bool
	levels    results.Levels
	auditing  audit.Options
	fetches   bool
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	dataFlag(cmd, &o.data)
	setFlag(f, &o.overrides.Set)
	f.StringSliceVar(&o.overrides.Datasets, "dataset", nil, "only these data sets")
	f.StringSliceVar(&o.overrides.Mechanisms, "mechanism", nil, "only these mechanisms, as name or name:variant")
	f.Float64SliceVar(&o.overrides.Epsilons, "epsilons", nil, "these epsilons instead of the study's")
	countFlag(f, &o.overrides.Repetitions, "repetitions", 0, 1, "repetitions; baselines in proportion")
	countFlag(f, &o.workers, "workers", 0, 1, "units at a time (default: number of cores)")
	folderFlag(f, &o.out, "", "folder of the results (default: runs/STUDY)")
	f.StringVar(&o.shard, "shard", "", "i/n: only the i-th of n parts of the study; see mldp merge")
	f.BoolVar(&o.fetches, "fetch", false, "download data that is missing")
	f.BoolVar(&o.audit, "audit", false, "audit the study's mechanisms as well, on the words of its first data "+
		"set and embedding")
	alignFlag(f, &o.levels)
	exclude(cmd, "shard", "align", "audit") // they are of the whole
}

func newRunCommand() *cobra.Command {
	var o runOptions
	var seed uint64
	cmd := completes(command("run", "STUDY|FILE.yaml"), studies)
	o.addFlags(cmd)
	cmd.Flags().Uint64Var(&seed, "seed", 0, "seed instead of the study's")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
		if cmd.Flags().Changed("seed") {
			o.overrides.Seed = &seed
		}
		study, err := openStudy(args[0], o.data, o.overrides)
		if err != nil {
			return err
		}
		if err := o.auditing.Check(); err != nil { // now, not after all units
			return usage(fmt.Errorf("audit: %w", err))
		}
		warnStudy(stderr, study.Study)
		force, _ := cmd.Flags().GetBool("force") // of all commands
		if m, err := engine.ReadManifest(filepath.Join(o.out, "manifest.json")); o.out != "" && !force && err == nil &&
			m.Study != study.Name {
			return check.Wrong("%s holds a run of the study %q: choose another --out for %q, or say --force", o.out,
				m.Study, study.Name)
		}
		// Data that is missing is fetched, or the error tells how to get all of it.
		missing, err := study.Missing(o.data)
		if err == nil {
			err = provide(ctx, missing, o.fetches, o.data, stderr)
		}
		if err != nil {
			return err
		}
		summary, err := o.run(ctx, study, stderr)
		if err != nil {
			return err
		}
		return o.write(cmd, study, summary, a)
	})
}

func (o *runOptions) run(ctx context.Context, study *plan.Plan,
	stderr io.Writer) (summary *engine.Summary, err error) {
	options := engine.Options{
		Out: o.out, Workers: o.workers, Log: stderr, Version: mldpVersion(), Command: commandLine(ctx),
	}
	if o.shard != "" {
		if options.Shard, err = engine.ParseShard(o.shard); err != nil {
			return nil, usage(err)
		}
	}
	if o.levels.Quantity != "" {
		summary, err = experiments.RunAligned(ctx, study.Study, o.data, options, o.levels)
	} else {
		summary, err = study.Run(ctx, o.data, options)
	}
	if errors.Is(err, engine.ErrInterrupted) {
		if summary != nil {
			err = fmt.Errorf("%w: %d of %d units are finished and kept; the same command continues with the rest",
				err, summary.Reused+summary.Ran, summary.Total)
		}
		err = &exitError{exitInterrupted, err}
	}
	return summary, err
}

// write writes what a finished run is asked for, and gives the answer.
func (o *runOptions) write(cmd *cobra.Command, study *plan.Plan, summary *engine.Summary, a *answer) error {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "%d units: %d run, %d finished before\n", summary.Total, summary.Ran, summary.Reused)
	if o.shard != "" {
		shard, err := engine.ParseShard(o.shard)
		if err != nil || shard.Count > 1 { // the page is that of the merged study
			a.wrote(summary.Dir, filepath.Join(summary.Dir, shard.File("results", ".csv")))
			return err
		}
	}
	var audited []results.AuditRow
	var failed error // the page is written all the same
	if o.audit {
		audited, failed = auditStudy(ctx, study.Study, o.data, filepath.Join(summary.Dir, auditFile), o.auditing, stderr)
	}
	return errors.Join(failed, writeOutputs(a, stderr, summary, audited, o.levels))
}
