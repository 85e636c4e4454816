package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
	"mldpbench/experiments/engine"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

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
		state, err := readClusterState(cmd.Context(), args[0], cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if !missing {
			return state.print(a, time.Now())
		}
		tasks := state.missingTasks()
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

func (c *clusterState) print(a *answer, now time.Time) error {
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
				if p.Finished.Before(first) {
					first = p.Finished
				}
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
	row := func(name string, counts []int, of int) []any {
		cells := []any{name}
		for _, n := range counts {
			cells = append(cells, n)
		}
		return append(cells, of)
	}
	if err := a.table("progress", slices.Concat([]string{"count"}, stateNames[:], []string{"of"}),
		[][]any{row("tasks", tasks[:], len(states)), row("units", cells[:], len(c.schedule))}); err != nil {
		return err
	}
	switch elapsed := now.Sub(first).Seconds(); {
	case cells[taskDone] == len(c.schedule):
		fmt.Fprintln(a.text, "complete")
	case recent > 0 && elapsed > 1 && tasks[taskRunning] > 0:
		fmt.Fprintf(a.text, "about %s left at the present pace\n", roundSeconds(left/recent*elapsed))
	default:
		fmt.Fprintf(a.text, "estimated work left: %s on one core\n", roundSeconds(left))
	}
	return nil
}
