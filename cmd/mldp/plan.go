package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results"
)

// planOptions are the common flags of plan and slurm: a study and its
// division into tasks.
type planOptions struct {
	study    runOptions
	tasks    int
	taskTime time.Duration
	records  []string
}

func (o *planOptions) addFlags(f *pflag.FlagSet) {
	o.study.addStudyFlags(f)
	f.IntVar(&o.tasks, "tasks", 0, "largest number of tasks (default: follows from --task-time)")
	f.DurationVar(&o.taskTime, "task-time", 30*time.Minute, "target length of one task on one core")
	f.StringSliceVar(&o.records, "records", nil, "results files of earlier runs, to estimate durations from")
}

func newPlanCommand() *cobra.Command {
	var o planOptions
	var out string
	cmd := command("plan", "plan STUDY|FILE.yaml", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		schedule, err := o.schedule(cmd.Context(), args[0], cmd.Flags())
		if err != nil {
			return err
		}
		if err := output(cmd, out, func(w io.Writer) error { return schedule.Write(w) }); err != nil {
			return err
		}
		describeSchedule(cmd.ErrOrStderr(), schedule)
		return nil
	}
	o.addFlags(cmd.Flags())
	outFlag(cmd.Flags(), &out, "", "file to write (default: standard output)")
	return cmd
}

// schedule makes the schedule requested by the flags.
func (o *planOptions) schedule(ctx context.Context, ref string, flags *pflag.FlagSet) (engine.Schedule, error) {
	if o.taskTime <= 0 {
		return nil, check.Wrong("task-time = %v: must be > 0", o.taskTime)
	}
	study, err := o.study.study(ref, flags)
	if err != nil {
		return nil, err
	}
	if err := o.study.provide(ctx, study, nil, io.Discard); err != nil { // never asks, because plan has no --fetch
		return nil, err
	}
	var rows []results.Row
	for _, path := range o.records {
		file, err := results.File(path)
		if err != nil {
			return nil, err
		}
		read, err := results.Read(file)
		if err != nil {
			return nil, err
		}
		rows = append(rows, read...)
	}
	return experiments.Schedule(ctx, study, o.study.data, o.tasks, o.taskTime.Seconds(), rows)
}

// shared makes or finds the schedule in a results folder. An existing schedule
// is kept as long as it has the same cells, because submitted tasks are
// identified by their numbers in it.
func (o *planOptions) shared(ctx context.Context, ref string, flags *pflag.FlagSet, dir string,
	replan bool) (engine.Schedule, error) {
	schedule, err := o.schedule(ctx, ref, flags)
	if err != nil {
		return nil, err
	}
	path := planPath(dir)
	old, err := engine.ReadSchedule(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !replan {
		return nil, err
	}
	kept := err == nil && !replan
	switch {
	case kept && !old.SameUnits(schedule):
		return nil, fmt.Errorf("%s is the schedule of other units (another study, other flags or other data): "+
			"choose another --out, or replace it with --replan", path)
	case kept && o.tasks > 0 && old.Tasks() != schedule.Tasks():
		return nil, fmt.Errorf("%s has %d tasks, not %d: leave out --tasks, or replace it with --replan once "+
			"its tasks have ended", path, old.Tasks(), schedule.Tasks())
	}
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o755); err != nil || kept {
		return old, err
	}
	return schedule, atomicfile.Write(path, 0o644, func(w io.Writer) error { return schedule.Write(w) })
}

func planPath(dir string) string { return filepath.Join(dir, "plan.jsonl") }

// openPlan reads the schedule of a results folder.
func openPlan(dir string) (engine.Schedule, error) {
	s, err := engine.ReadSchedule(planPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, check.Wrong("%s: no schedule here; mldp slurm makes one", dir)
	}
	return s, err
}

// describeSchedule summarises the plan in one line.
func describeSchedule(w io.Writer, s engine.Schedule) {
	seconds, total := s.TaskSeconds(), 0.0
	for _, t := range seconds {
		total += t
	}
	fmt.Fprintf(w, "%d units in %d tasks, estimated %s to %s each, %s in all, on one core\n",
		len(s), s.Tasks(), roundSeconds(slices.Min(seconds)), roundSeconds(slices.Max(seconds)), roundSeconds(total))
}

func roundSeconds(s float64) time.Duration {
	return (time.Duration(s*1000) * time.Millisecond).Round(time.Second)
}

// studyFlags returns the given flags that select what is run, as words for
// another command line.
func (o *runOptions) studyFlags(given *pflag.FlagSet) (words []string) {
	names := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(runOptions).addStudyFlags(names)
	names.SetNormalizeFunc(canonicalName) // like those that are given
	given.Visit(func(f *pflag.Flag) {
		if names.Lookup(f.Name) == nil {
			return
		}
		values, ok := f.Value.(pflag.SliceValue)
		switch {
		case !ok:
			words = append(words, "--"+f.Name+"="+f.Value.String())
		case f.Name == "epsilons": // pflag would print six decimals
			words = append(words, "--epsilons="+strings.Join(list.Map(o.overrides.Epsilons, func(x float64) string {
				return strconv.FormatFloat(x, 'g', -1, 64)
			}), ","))
		case f.Value.Type() == "stringArray": // given once per value, which may hold commas
			for _, v := range values.GetSlice() {
				words = append(words, "--"+f.Name+"="+v)
			}
		default:
			words = append(words, "--"+f.Name+"="+strings.Trim(f.Value.String(), "[]"))
		}
	})
	return words
}
