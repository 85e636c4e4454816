package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments/submit"
	"mldpbench/plots"
	"mldpbench/results/published"
	"mldpbench/results/tables"
)

func newArtifactCommand() *cobra.Command {
	var out string
	cmd := command("artifact", "artifact STUDY|RUN", cobra.ExactArgs(1))
	outFlag(cmd.Flags(), &out, "artifact", "folder of the artefact")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		dir := args[0]
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil {
			dir = filepath.Join("runs", args[0])
		}
		p, _, err := loadRuns([]string{dir})
		if err != nil {
			return err
		}
		made, err := submit.MakeArtifact(dir, out, func(to string) error {
			all := append(tables.All(p), published.Tables(p, published.DefaultMargin)...)
			if _, err := tables.Write(filepath.Join(to, "tables"), all, []string{"md", "csv"}); err != nil {
				return err
			}
			drawn, _ := plots.All(p)
			if _, err := plots.Save(filepath.Join(to, "figures"), drawn, []string{"svg"}); err != nil {
				return err
			}
			return writePage(filepath.Join(to, "report.html"), p, false)
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%d files; check it with: mldp verify %s\n", len(made.Files), out)
		a.wrote("", out)
		return nil
	})
}
