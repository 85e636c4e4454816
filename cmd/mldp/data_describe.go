package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/analysis"
	"mldpbench/results/views"
	"mldpbench/stream"
)

// newDataDescribeCommand prepares data sets as a study does, and prints its table of
// them.
func newDataDescribeCommand(dir *string) *cobra.Command {
	var spec study.DatasetSpec
	var set, text []string
	var seed uint64
	cmd := completes(command("data-describe", "[NAME...]"), datasets.Names)
	f := cmd.Flags()
	f.StringVar(&spec.File, "file", "", "read this file of your own")
	f.StringSliceVar(&text, "text", nil, "its text columns")
	f.StringVar(&spec.Label, "label", "", "its label column")
	f.StringArrayVar(&set, "set", nil, "key=value of a data set of a study, as in train=200, encoding=latin1 or "+
		"balance=no; may be given more than once")
	f.Uint64Var(&seed, "seed", 2024, "study seed, which determines the sample")
	return prints(cmd, func(cmd *cobra.Command, names []string, a *answer) error {
		all := len(names) == 0
		if all {
			names = datasets.Names()
		}
		if spec.Text = text; spec.File != "" && len(names) != 1 {
			return check.Wrong("--file describes exactly one data set: give its NAME")
		}
		var p results.Prepared
		for _, name := range names {
			spec.Name = name
			own, err := spec.Set(set)
			if err != nil {
				return err
			}
			d, err := datasets.Load(cmd.Context(), own.Request(*dir, stream.FromUint64(seed).Derive("dataset")))
			var missing *fetch.MissingError
			if all && errors.As(err, &missing) {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s: not here; %s\n", name, missing.Hint())
				continue
			}
			if err != nil {
				return err
			}
			p.Datasets = append(p.Datasets, datasets.Describe(d))
		}
		for _, d := range p.Datasets {
			for _, w := range d.Warnings {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: data set %s: %s\n", d.Name, w)
			}
		}
		a.warned(p.Datasets)
		tables := views.Tables(analysis.Of(&p, results.Levels{}), views.Builtin().Tables)
		return a.show(views.Named(tables, "datasets")...)
	})
}
