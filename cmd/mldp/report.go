package main

import (
	"cmp"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/results"
)

func newReportCommand() *cobra.Command {
	var out string
	var examples bool
	var levels results.Levels
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
	}
	outFlag(cmd.Flags(), &out, "", "the page to write (default: report.html next to the first results)")
	examplesFlag(cmd.Flags(), &examples)
	alignFlag(cmd.Flags(), &levels)
	return prints(cmd, func(_ *cobra.Command, args []string, a *answer) error {
		p, dir, err := loadRuns(args)
		if err != nil {
			return err
		}
		p.Levels = levels
		out = cmp.Or(out, filepath.Join(dir, "report.html"))
		if err := writePage(out, p, examples); err != nil {
			return err
		}
		a.wrote("", out)
		return nil
	})
}
