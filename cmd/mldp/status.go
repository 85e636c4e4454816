package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
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
