package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"mldpbench/experiments/engine"
)

// State is a schedule with its state in the results folder and in the queue.
type State struct {
	schedule engine.Schedule
	units    []engine.Progress
	queue    Queue
}

// JobName identifies the jobs of a schedule in squeue.
func JobName(s engine.Schedule) string { return "mldp-" + s.Study() + "-" + s.ID() }

// ReadState reads folder and queue. It writes a note if the queue is not known;
// where there is none, no task is running.
func ReadState(ctx context.Context, schedule engine.Schedule, dir string, log io.Writer) (*State, error) {
	// The queue first: a task that ends in between is then seen as done, and
	// not as missing.
	queue, err := ReadQueue(ctx, JobName(schedule))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil && !errors.Is(err, ErrNoQueue) {
		fmt.Fprintf(log, "mldp: the queue is not known: %v\n", err)
	}
	units, err := schedule.Progress(dir)
	return &State{schedule, units, queue}, err
}

// StateNames are the states of a task and of a unit.
var StateNames = []string{"done", "running", "waiting", "failed", "missing"}

const (
	done = iota
	running
	waiting
	failed
	missing
	states
)

// tasks returns the state of task i at i-1.
func (s *State) tasks() []int {
	open := make([]bool, s.schedule.Tasks())
	broken := make([]bool, len(open))
	for i, unit := range s.schedule {
		open[unit.Task-1] = open[unit.Task-1] || s.units[i].State != engine.Done
		broken[unit.Task-1] = broken[unit.Task-1] || s.units[i].State == engine.Failed
	}
	of := make([]int, len(open))
	for i := range open {
		switch {
		case s.queue.Running[i+1]:
			of[i] = running
		case !open[i]:
			of[i] = done
		case s.queue.Pending[i+1]:
			of[i] = waiting
		case broken[i]:
			of[i] = failed
		default:
			of[i] = missing
		}
	}
	return of
}

// Missing returns the tasks to submit again: those failed or missing.
func (s *State) Missing() (tasks []int) {
	for i, state := range s.tasks() {
		if state == failed || state == missing {
			tasks = append(tasks, i+1)
		}
	}
	return tasks
}

// pace is the period of time used to estimate the time left.
const pace = 10 * time.Minute

// Counts are the numbers of tasks and units in each of StateNames.
type Counts struct {
	Tasks, Units [states]int
	Complete     bool
	Left         float64 // seconds of work of the schedule that are not done, on one core
	Pace         float64 // seconds until the end at the speed of the last ten minutes; 0: not known
}

// Count counts tasks and units.
func (s *State) Count(now time.Time) (c Counts) {
	tasks := s.tasks()
	for _, state := range tasks {
		c.Tasks[state]++
	}
	recent, first := 0.0, now
	for i, unit := range s.schedule {
		p := s.units[i]
		if p.State == engine.Done {
			c.Units[done]++
			if age := now.Sub(p.Finished); age >= 0 && age < pace {
				recent += unit.Seconds
				first = slices.MinFunc([]time.Time{first, p.Finished}, time.Time.Compare)
			}
			continue
		}
		c.Left += unit.Seconds
		switch state := tasks[unit.Task-1]; {
		case state == running || state == waiting:
			c.Units[state]++
		case p.State == engine.Failed:
			c.Units[failed]++
		default:
			c.Units[missing]++
		}
	}
	c.Complete = c.Units[done] == len(s.schedule)
	if elapsed := now.Sub(first).Seconds(); recent > 0 && elapsed > 1 && c.Tasks[running] > 0 {
		c.Pace = c.Left / recent * elapsed
	}
	return c
}
