package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/plots"
	"mldpbench/results"
)

func init() { commands = append(commands, newFiguresCommand) }

func newFiguresCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "figures RESULTS",
		Short: "Draw the figures of finished records again",
		Long: `Figures draws every figure that the records hold data for, as PNG, SVG and PDF
at the width of a journal's column, and prints the paths. RESULTS is the folder
of a run or its results.csv. What cannot be drawn is named on standard error
with the reason.`,
		Example: `  mldp figures results/mini -o plots/mini`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if points := filepath.Join(args[0], "points.csv"); isFile(points) { // a paper study
				read, err := results.ReadPoints(points)
				if err != nil {
					return err
				}
				dir := out
				if dir == "" {
					dir = filepath.Join(args[0], "plots")
				}
				return drawPoints(read, dir, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			file, err := recordsFile(args[0])
			if err != nil {
				return err
			}
			records, err := results.Read(file)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(filepath.Dir(file), "plots")
			}
			_, skipped := plots.All(records)
			paths, err := plots.WriteAll(out, records)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			for _, s := range skipped {
				fmt.Fprintf(cmd.ErrOrStderr(), "not drawn: %s: %s\n", s.Name, s.Reason)
			}
			for _, p := range paths {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder of the figures (default: plots beside the records)")
	return cmd
}

// recordsFile accepts the folder of a run for the results.csv in it.
func recordsFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.IsDir() {
		path = filepath.Join(path, "results.csv")
	}
	return path, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
