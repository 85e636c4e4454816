package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/internal/atomicfile"
	"mldpbench/plots/report"
)

func init() { commands = append(commands, newReportCommand) }

func newReportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Write finished studies to one HTML page",
		Long: `Report writes one self-contained HTML page: summary, figures, sortable tables,
each mechanism with its guarantee and examples, warnings, and how to reproduce
the numbers. It opens from disk, without a network. RESULTS is the folder of a
run (its manifest, examples.jsonl and audit.csv are used where present) or a
results.csv. Several are joined, for example a study and its variants.`,
		Example: `  mldp report results/mini -o report.html
  mldp report results/comparative results/comparative-released -o report.html`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := loadRuns(args)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(l.dir, "report.html")
			}
			if err := l.write(out); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the page to write (default: report.html next to the first records)")
	return cmd
}

// write renders the page.
func (l loaded) write(out string) error {
	return atomicfile.Write(out, 0o644, func(w io.Writer) error { return report.Write(w, l.Input) })
}
