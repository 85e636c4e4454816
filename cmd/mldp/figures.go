package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/plots"
)

func init() { commands = append(commands, newFiguresCommand) }

func newFiguresCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "figures RESULTS...",
		Short: "Draw the figures of finished records again",
		Long: `Figures draws every figure that the records hold data for, as PNG, SVG and PDF
at the width of a journal's column, and prints the paths. RESULTS is the folder
of a run or its results.csv; several are joined. What cannot be drawn is named
on standard error with the reason.`,
		Example: `  mldp figures results/mini -o plots/mini`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := loadRuns(args)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(l.dir, "plots")
			}
			if l.Records[0].Quantity != "" { // a paper study
				return drawPoints(l.Records, out, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			_, skipped := plots.All(l.Records)
			paths, err := l.figures(out)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
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
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder of the figures (default: plots beside the first records)")
	return cmd
}
