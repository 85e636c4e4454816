package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/atomicfile"
	"mldpbench/plots/report"
)

func newBoardCommand() *cobra.Command {
	var out string
	var align alignFlag
	cmd := &cobra.Command{
		Use:   "board RESULTS...",
		Short: "Rank mechanisms over any number of results on one page",
		Long: `Board joins results (files, or folders of runs, of any study and group) and
writes one page. It ranks mechanisms with a guarantee by the accuracy that they
keep at an adversary's error of 0.5 and 0.8, each on its own line, with intervals
and who is told apart from whom. From studies of attacks it shows what each
attacker still learns where a mechanism costs five points of accuracy. A table
says what each promises, whether the audit next to its results found that kept,
and what it costs; every mechanism of the results is named, or the reason why it
has no place.`,
		Example: `  mldp board runs/mini -o board.html`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, _, err := loadRuns(args)
			if err != nil {
				return err
			}
			p.Levels = align.Levels
			if err := atomicfile.Write(out, 0o644, func(w io.Writer) error {
				return report.WriteLeaderboard(w, p)
			}); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "board.html", "the page to write")
	align.add(cmd)
	return cmd
}
