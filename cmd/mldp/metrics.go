package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/results"
)

func init() { commands = append(commands, newMetricsCommand) }

func newMetricsCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "metrics [RESULTS]",
		Short: "List the metrics, or recompute them from raw counts",
		Long: `Metrics without an argument lists every metric: its column, title, unit, which
direction is better, the threshold of the gate and the counts behind it.

With RESULTS it reads results (a file, or the folder of a run), recomputes every
metric that follows from raw counts (accuracy, N_w, S_w, PP, LOW, English %, the
interval of CS) or from other records (baseline accuracy, PUC) and lists the
columns whose stored values differ. --out writes the recomputed records. AUC,
E_M, L_M and MIA AUC are unchanged: their raw outcomes are too large for a
record.

Exit codes: 0 stored values follow from the counts or were rewritten with
--out, 1 they do not follow.`,
		Example: `  mldp metrics
  mldp metrics results/mini/results.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return results.RegistryTable().WriteMarkdown(cmd.OutOrStdout())
			}
			stored, err := readRecords(args[0])
			if err != nil {
				return err
			}
			derived, err := results.Derive(stored)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			changes := results.Changes(stored, derived)
			if len(changes) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "All metrics of %d records follow from their raw counts.\n", len(stored))
			} else if err := results.ChangesTable(changes).WriteMarkdown(cmd.OutOrStdout()); err != nil {
				return err
			}
			if out != "" {
				return results.Write(out, derived)
			}
			if len(changes) > 0 {
				return fmt.Errorf("%s: %d columns do not follow from the raw counts; --out writes recomputed records",
					args[0], len(changes))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "write the recomputed records to this file")
	return cmd
}
