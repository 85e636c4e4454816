package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/internal/atomicfile"
	"mldpbench/plots/report"
)

func init() { commands = append(commands, newLeaderboardCommand) }

func newLeaderboardCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "leaderboard RESULTS...",
		Short: "Rank mechanisms over any number of results on one page",
		Long: `Leaderboard joins results (files, or folders of runs, of any study and group)
and writes one page. It ranks mechanisms with a guarantee by the accuracy that
they keep at an adversary's error of 0.5 and 0.8, with intervals and bounds of
their places. From studies of attacks it shows what each attacker still learns
where a mechanism costs five points of accuracy. A table says what each promises,
whether the audit next to its records found that kept, and what it costs. It also
lists who measured what. A mechanism refuted by the audit next to its records is
not ranked. Runs with different seeds on the same cells are ranked separately.`,
		Example: `  mldp leaderboard results/mini -o leaderboard.html`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := loadRuns(args)
			if err != nil {
				return err
			}
			if err := atomicfile.Write(out, 0o644, func(w io.Writer) error {
				return report.WriteLeaderboard(w, l.Records, l.Audit)
			}); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "leaderboard.html", "the page to write")
	return cmd
}
