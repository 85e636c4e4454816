package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

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
