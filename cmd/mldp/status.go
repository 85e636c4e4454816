package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
	"mldpbench/experiments/engine"
	"mldpbench/internal/check"
)

func newStatusCommand() *cobra.Command {
	var missing bool
	var format string
	cmd := &cobra.Command{
		Use:   "status FOLDER",
		Short: "Show the progress of a study on a cluster, or the tasks to submit again",
		Long: `Status counts the units and tasks of the schedule in a results folder: done,
running, waiting in the queue, failed, missing. A task is running or waiting
according to squeue; without squeue such tasks count as missing. A task is done
when all its units are, and failed when it is not running and some unit has an
error in the folder failed. The time left is estimated from the speed of the
last ten minutes.

With --missing it prints the tasks that are failed or missing, and nothing if
there are none (json: an empty list). Formats: array ("3,7-9", for sbatch
--array), lines (one task per line), json. For arrays larger than the cluster's
MaxArraySize use mldp slurm --submit --missing, which splits them.`,
		Example: `  mldp status runs/mini
  sbatch --array=$(mldp status runs/comparative --missing --format array) comparative.sbatch`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := check.OneOf("format", format, "array", "lines", "json"); err != nil {
				return &exitError{exitUsage, err}
			}
			state, err := readClusterState(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if missing {
				return state.printMissing(cmd.OutOrStdout(), cmd.ErrOrStderr(), format)
			}
			return state.print(cmd.OutOrStdout(), time.Now())
		},
	}
	cmd.Flags().BoolVar(&missing, "missing", false, "print the tasks to submit again")
	cmd.Flags().StringVar(&format, "format", "lines", "of --missing: array, lines or json")
	return cmd
}

func (c *clusterState) printMissing(out, stderr io.Writer, format string) (err error) {
	tasks := c.missingTasks()
	switch {
	case format == "json":
		return json.NewEncoder(out).Encode(append([]int{}, tasks...))
	case len(tasks) == 0:
		_, err = fmt.Fprintln(stderr, "nothing is missing")
	case format == "array":
		_, err = fmt.Fprintln(out, cluster.FormatArray(tasks))
	default:
		for _, t := range tasks {
			if _, err := fmt.Fprintln(out, t); err != nil {
				return err
			}
		}
	}
	return err
}

// clusterState is a schedule with its state in folder and queue.
type clusterState struct {
	schedule engine.Schedule
	cells    []engine.Progress
	queue    cluster.Queue
}

// readClusterState reads folder and queue. It prints a note if there is no
// queue.
func readClusterState(ctx context.Context, dir string, stderr io.Writer) (*clusterState, error) {
	schedule, err := openPlan(dir)
	if err != nil {
		return nil, err
	}
	// The queue first: a task that ends in between is then seen as done, and
	// not as missing.
	queue, err := cluster.ReadQueue(ctx, jobName(schedule))
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !errors.Is(err, cluster.ErrNoQueue) {
			fmt.Fprintf(stderr, "mldp: the queue is not known: %v\n", err)
		}
	}
	cells, err := schedule.Progress(dir)
	return &clusterState{schedule, cells, queue}, err
}

// States of a task, in the order of the table.
var stateNames = [...]string{"done", "running", "waiting", "failed", "missing"}

const (
	taskDone = iota
	taskRunning
	taskWaiting
	taskFailed
	taskMissing
)

// taskStates returns the state of task i at i-1.
func (c *clusterState) taskStates() []int {
	open := make([]bool, c.schedule.Tasks())
	failed := make([]bool, len(open))
	for i, cell := range c.schedule {
		open[cell.Task-1] = open[cell.Task-1] || c.cells[i].State != engine.Done
		failed[cell.Task-1] = failed[cell.Task-1] || c.cells[i].State == engine.Failed
	}
	states := make([]int, len(open))
	for i := range open {
		switch {
		case c.queue.Running[i+1]:
			states[i] = taskRunning
		case !open[i]:
			states[i] = taskDone
		case c.queue.Pending[i+1]:
			states[i] = taskWaiting
		case failed[i]:
			states[i] = taskFailed
		default:
			states[i] = taskMissing
		}
	}
	return states
}

// missingTasks returns the tasks to submit again.
func (c *clusterState) missingTasks() []int {
	var tasks []int
	for i, s := range c.taskStates() {
		if s == taskFailed || s == taskMissing {
			tasks = append(tasks, i+1)
		}
	}
	return tasks
}

// pace is the period of time used to estimate the time left.
const pace = 10 * time.Minute

func (c *clusterState) print(w io.Writer, now time.Time) error {
	var tasks, cells [len(stateNames)]int
	states := c.taskStates()
	for _, s := range states {
		tasks[s]++
	}
	var left, recent float64 // estimated seconds
	first := now
	for i, cell := range c.schedule {
		p := c.cells[i]
		if p.State == engine.Done {
			cells[taskDone]++
			if age := now.Sub(p.Finished); age >= 0 && age < pace {
				recent += cell.Seconds
				first = minTime(first, p.Finished)
			}
			continue
		}
		left += cell.Seconds
		switch s := states[cell.Task-1]; {
		case s == taskRunning || s == taskWaiting:
			cells[s]++
		case p.State == engine.Failed:
			cells[taskFailed]++
		default:
			cells[taskMissing]++
		}
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\t")
	for _, name := range stateNames {
		fmt.Fprintf(table, "%s\t", name)
	}
	fmt.Fprintln(table, "of\t")
	for _, row := range []struct {
		name   string
		counts [len(stateNames)]int
		total  int
	}{{"tasks", tasks, len(states)}, {"units", cells, len(c.schedule)}} {
		fmt.Fprintf(table, "%s\t", row.name)
		for _, n := range row.counts {
			fmt.Fprintf(table, "%d\t", n)
		}
		fmt.Fprintf(table, "%d\t\n", row.total)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	var err error
	switch elapsed := now.Sub(first).Seconds(); {
	case cells[taskDone] == len(c.schedule):
		_, err = fmt.Fprintln(w, "complete")
	case recent > 0 && elapsed > 1 && tasks[taskRunning] > 0:
		_, err = fmt.Fprintf(w, "about %s left at the present pace\n", roundSeconds(left/recent*elapsed))
	default:
		_, err = fmt.Fprintf(w, "estimated work left: %s on one core\n", roundSeconds(left))
	}
	return err
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
