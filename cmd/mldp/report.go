package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
)

func init() { commands = append(commands, newReportCommand) }

func newReportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RESULTS",
		Short: "Put a finished study on one HTML page",
		Long: `Report writes one self-contained HTML page: summary, figures, sortable tables,
each mechanism with its guarantee and examples, warnings, and how to reproduce
the numbers. It opens from the disk, without a network. RESULTS is the folder
of a run (its manifest, examples.jsonl and audit.csv are used where they are)
or a results.csv.`,
		Example: `  mldp report results/mini -o report.html`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := recordsFile(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join(filepath.Dir(file), "report.html")
			}
			if err := writeReport(file, out); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write (default: report.html beside the records)")
	return cmd
}

// writeReport reads what a run left beside its records and writes the page.
func writeReport(file, out string) error {
	records, err := results.Read(file)
	if err != nil {
		return err
	}
	if records, err = results.Derive(records); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	in := report.Input{Records: records}
	if len(records) > 0 {
		in.Study = records[0].Study
	}
	examples, err := experiments.ReadExamples(filepath.Join(filepath.Dir(file), "examples.jsonl"))
	if err != nil {
		return err
	}
	for _, x := range examples {
		in.Examples = append(in.Examples, results.Example(x))
	}
	if in.Audit, err = plots.ReadAudit(filepath.Join(filepath.Dir(file), "audit.csv")); err != nil {
		return err
	}
	m, err := experiments.ReadManifest(filepath.Join(filepath.Dir(file), "manifest.json"))
	switch {
	case err == nil:
		in.Command, in.Definition, in.Version, in.Machine, in.Datasets = m.Command, m.Definition, m.Version, m.Machine, m.Datasets
		in.Started = m.Started.Format("2 January 2006, 15:04 UTC")
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return atomicfile.Write(out, 0o644, func(w io.Writer) error {
		if err := report.Write(w, in); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}
