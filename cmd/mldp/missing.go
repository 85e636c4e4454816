package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/experiments/cluster"
	"mldpbench/internal/check"
)

func init() { commands = append(commands, newMissingCommand) }

func newMissingCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "missing FOLDER",
		Short: "List the tasks to submit again",
		Long: `Missing prints the tasks of the schedule in a results folder that have
unfinished or failed cells and are neither running nor waiting in the queue.
Without squeue the queue is unknown, and all unfinished tasks are printed.

Formats: array ("3,7-9", for sbatch --array), lines (one task per line), json.
For arrays larger than the cluster's MaxArraySize use mldp slurm --submit
--missing, which splits them. If nothing is missing it prints nothing (json: an
empty list).`,
		Example: `  mldp missing results/mini
  sbatch --array=$(mldp missing results/comparative --format=array) comparative.sbatch`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := check.OneOf("format", format, "array", "lines", "json"); err != nil {
				return &exitError{exitUsage, err}
			}
			state, err := readClusterState(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			tasks := state.missingTasks()
			out := cmd.OutOrStdout()
			switch {
			case format == "json":
				return json.NewEncoder(out).Encode(append([]int{}, tasks...))
			case len(tasks) == 0:
				_, err = fmt.Fprintln(cmd.ErrOrStderr(), "nothing is missing")
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
		},
	}
	cmd.Flags().StringVar(&format, "format", "lines", "array, lines or json")
	return cmd
}
