package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newReportCommand() *cobra.Command {
	var out string
	var examples bool
	var align alignFlag
	cmd := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Write finished studies to one HTML page",
		Long: `Report writes one self-contained HTML page: the answer, figures, sortable tables,
each mechanism with its guarantee, warnings, and how to reproduce the numbers. It
opens from disk, without a network. RESULTS is the folder of a run (its manifest
and audit.csv are used where present) or a results file. Several are joined, for
example a study and its variants.

With --examples the page shows a few documents before and after privatising:
original texts of the data set, which everybody who gets the page can read.`,
		Example: `  mldp report runs/mini -o report.html
  mldp report runs/comparative runs/comparative-released -o report.html
  mldp report runs/mini --align weighted=0.6`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, dir, err := loadRuns(args)
			if err != nil {
				return err
			}
			p.Levels = align.Levels
			if out == "" {
				out = filepath.Join(dir, "report.html")
			}
			if err := writePage(out, p, examples); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the page to write (default: report.html next to the first results)")
	cmd.Flags().BoolVar(&examples, "examples", false, "show documents before and after privatising")
	align.add(cmd)
	return cmd
}
