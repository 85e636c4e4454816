package main

import (
	"bytes"
	"cmp"
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
	"gonum.org/v1/gonum/floats"

	"mldpbench/experiments"
	"mldpbench/experiments/cluster"
	"mldpbench/experiments/engine"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/results"
)

// slurmOptions are the flags of mldp slurm.
type slurmOptions struct {
	planOptions
	job                     cluster.Slurm
	replan, submit, missing bool
}

func newSlurmCommand() *cobra.Command {
	var o slurmOptions
	cmd := command("slurm", "slurm STUDY|FILE.yaml", cobra.ExactArgs(1))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.complete(cmd, args[0]); err != nil {
			return err
		}
		var script bytes.Buffer
		if err := o.job.Script(&script); err != nil {
			return usage(err)
		}
		if o.submit {
			return o.send(cmd, script.Bytes())
		}
		_, err := cmd.OutOrStdout().Write(script.Bytes())
		return err
	}
	f, job := cmd.Flags(), &o.job
	o.addFlags(f)
	outFlag(f, &job.Out, "", "shared folder of the results (default: runs/STUDY)")
	f.IntVar(&job.Concurrent, "concurrent", 0, "tasks at a time (default: decided by the cluster)")
	f.DurationVar(&job.Time, "time", 0, "limit of a task, such as 90m (default: three times the longest "+
		"estimate, at least 30m)")
	f.DurationVar(&job.Notice, "notice", 2*time.Minute, "time before the limit at which a task starts no more units")
	f.IntVar(&job.CPUs, "cpus", 1, "processors per task")
	f.StringVar(&job.Memory, "mem", "4G", "memory per task, as sbatch reads it")
	f.StringVar(&job.Partition, "partition", "", "partition")
	f.StringArrayVar(&job.Extra, "extra", nil, "a further option of sbatch, such as --account=x; may be repeated")
	f.StringVar(&job.Program, "program", "", "path of mldp on the nodes (default: this one)")
	f.IntVar(&job.MaxArraySize, "max-array-size", 0, "MaxArraySize of the cluster (default: asked from it, else 1001)")
	f.BoolVar(&o.replan, "replan", false, "replace an existing schedule")
	f.BoolVar(&o.submit, "submit", false, "run sbatch and print the job id")
	f.BoolVar(&o.missing, "missing", false, "with --submit: only tasks with unfinished units that are not queued")
	return cmd
}

// complete makes the schedule and fills in what the flags leave open.
func (o *slurmOptions) complete(cmd *cobra.Command, ref string) error {
	study, err := o.study.study(ref, cmd.Flags())
	if err != nil {
		return err
	}
	job := &o.job
	job.Out = cmp.Or(job.Out, filepath.Join("runs", study.Name))
	schedule, err := o.shared(cmd.Context(), ref, cmd.Flags(), job.Out, o.replan)
	if err != nil {
		return err
	}
	describeSchedule(cmd.ErrOrStderr(), schedule)
	job.Study, job.Flags, job.Tasks, job.Plan = ref, o.study.studyFlags(cmd.Flags()), schedule.Tasks(), planPath(job.Out)
	job.Name = cluster.JobName(schedule)
	// Estimates are rough, and a task that ends early gives its time back.
	job.Time = cmp.Or(job.Time, max(30*time.Minute, 3*roundSeconds(slices.Max(schedule.TaskSeconds()))))
	if job.WorkDir, err = os.Getwd(); err != nil {
		return err
	}
	if job.Program == "" {
		if job.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	if job.MaxArraySize == 0 {
		job.MaxArraySize, err = cluster.MaxArraySize(cmd.Context())
		if err != nil && !o.submit { // printed for another machine
			job.MaxArraySize, err = cluster.DefaultMaxArraySize, nil
			fmt.Fprintf(cmd.ErrOrStderr(), "mldp: no cluster here, assuming MaxArraySize %d\n", job.MaxArraySize)
		}
	}
	return err
}

// send submits the script and prints the ids of the jobs.
func (o *slurmOptions) send(cmd *cobra.Command, script []byte) error {
	file := filepath.Join(o.job.Out, "job.sbatch")
	if err := atomicfile.WriteBytes(file, 0o644, script); err != nil {
		return err
	}
	tasks := o.job.AllTasks()
	if o.missing {
		state, err := readState(cmd, o.job.Out)
		if err != nil {
			return err
		}
		tasks = state.Missing()
	}
	for _, chunk := range o.job.Chunks(tasks) {
		id, err := o.job.Submit(cmd.Context(), chunk, file)
		if err != nil {
			return err
		}
		fmt.Fprintln(cmd.OutOrStdout(), id)
	}
	return nil
}

func newStatusCommand() *cobra.Command {
	var missing bool
	var format string
	cmd := command("status", "status FOLDER", cobra.ExactArgs(1))
	cmd.Flags().BoolVar(&missing, "missing", false, "print the tasks to submit again")
	cmd.Flags().StringVar(&format, "format", "lines", "of --missing: array or lines")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		if err := check.OneOf("format", format, "array", "lines"); err != nil {
			return err
		}
		state, err := readState(cmd, args[0])
		if err != nil {
			return err
		}
		if !missing {
			return printState(a, state)
		}
		tasks := state.Missing()
		a.add("missing", list.Map(tasks, func(n int) struct{ Task int } { return struct{ Task int }{n} }))
		switch {
		case len(tasks) == 0:
			fmt.Fprintln(cmd.ErrOrStderr(), "nothing is missing")
		case format == "array":
			fmt.Fprintln(a.text, cluster.FormatArray(tasks))
		default:
			for _, t := range tasks {
				fmt.Fprintln(a.text, t)
			}
		}
		return nil
	})
}

// readState reads the state of the schedule of a folder.
func readState(cmd *cobra.Command, dir string) (*cluster.State, error) {
	schedule, err := openPlan(dir)
	if err != nil {
		return nil, err
	}
	return cluster.ReadState(cmd.Context(), schedule, dir, cmd.ErrOrStderr())
}

func printState(a *answer, s *cluster.State) error {
	c := s.Count(time.Now())
	row := func(name string, counts []int) []any {
		cells := []any{name}
		for _, n := range counts {
			cells = append(cells, n)
		}
		return append(cells, list.Sum(counts, func(n int) int { return n }))
	}
	if err := a.table("progress", slices.Concat([]string{"count"}, cluster.StateNames, []string{"of"}),
		[][]any{row("tasks", c.Tasks[:]), row("units", c.Units[:])}); err != nil {
		return err
	}
	switch {
	case c.Complete:
		fmt.Fprintln(a.text, "complete")
	case c.Pace > 0:
		fmt.Fprintf(a.text, "about %s left at the present pace\n", roundSeconds(c.Pace))
	default:
		fmt.Fprintf(a.text, "estimated work left: %s on one core\n", roundSeconds(c.Left))
	}
	return nil
}

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
	seconds := s.TaskSeconds()
	most := slices.MaxFunc(s, func(a, b engine.Assignment) int { return cmp.Compare(a.MemoryMiB, b.MemoryMiB) })
	fmt.Fprintf(w, "%d units in %d tasks, estimated %s to %s each, %s in all, on one core; "+
		"up to %d MiB for a unit, on top of data and vectors\n", len(s), s.Tasks(), roundSeconds(slices.Min(seconds)),
		roundSeconds(slices.Max(seconds)), roundSeconds(floats.Sum(seconds)), most.MemoryMiB)
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
