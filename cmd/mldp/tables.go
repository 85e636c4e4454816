package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func init() { commands = append(commands, newTablesCommand) }

func newTablesCommand() *cobra.Command {
	var out string
	var compact bool
	cmd := &cobra.Command{
		Use:   "tables RESULTS...",
		Short: "Write the study's tables as Markdown, LaTeX and CSV",
		Long: `Tables reads results (files, or folders of runs, which are joined) and writes
all tables for which they have data (data sets, every metric, regression, ranks,
accuracy at equal error of the adversary, promise and price of each mechanism,
adversary, guarantees, cost, comparison with the published tables, example outputs), each as .md, .tex
(booktabs; wide tables as table*, for a paper of two columns) and .csv, and
prints their paths. Data sets and example outputs come from manifest.json and
examples.jsonl, which mldp run writes next to the results.`,
		Example: `  mldp tables results/mini/results.csv --out results/mini/tables
  mldp tables results/comparative results/comparative-released --out tables`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := loadRuns(args)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(l.dir, "tables")
			}
			paths, err := l.tables(out, compact)
			if err != nil {
				return err
			}
			for _, p := range paths {
				fmt.Fprintln(cmd.OutOrStdout(), p)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&compact, "compact", false, "means only: no intervals, footnotes or legends")
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder of the tables (default: tables next to the first results)")
	return cmd
}
