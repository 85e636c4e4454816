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
	cmd := command("report", "report RESULTS...", cobra.MinimumNArgs(1))
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
