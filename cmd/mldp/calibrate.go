package main

import (
	"cmp"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"mldpbench/datasets/table"
	"mldpbench/experiments"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

func newCalibrateCommand() *cobra.Command {
	var o experiments.Calibration
	var target string
	var names []string
	var space spaceOptions
	var text table.Options
	var seed uint64
	var program commandOptions
	cmd := command("calibrate", "")
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "nw=SHARE or em=SHARE; several shares with commas")
	f.StringVar(&text.Name, "text", "", "file whose words are those that are hidden, and guessed by who knows how "+
		"often each occurs; its format is that of its suffix")
	f.StringArrayVar(&text.Columns, "column", nil, "of --text; may be repeated")
	textFlags(f, &text.Delimiter, &text.Encoding)
	f.StringSliceVar(&names, "mechanism", nil, "mechanisms to calibrate (default: all that return words)")
	program.addFlags(cmd)
	space.addFlags(cmd, bestVectors, 10_000)
	countFlag(f, &o.Drawn, "count", 100, 1, "words drawn, for nw")
	countFlag(f, &o.Runs, "runs", 0, 0, "runs per word, where there is no closed form (default: 20; "+
		"of a text by its size)")
	f.Float64Var(&o.Tolerance, "tolerance", experiments.Tolerance,
		"how far above a target a value may be that ends its search")
	f.Uint64Var(&seed, "seed", 2020, "seed")
	require(cmd, "target")
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) (err error) {
		o.Levels, err = experiments.ParseTarget(target)
		if err = cmp.Or(err, text.Check()); err != nil {
			return err
		}
		if program.line != "" {
			o.Mechanisms, err = program.settings()
		}
		for _, name := range names {
			s, wrong := parseInstance(name)
			o.Mechanisms, err = append(o.Mechanisms, s), cmp.Or(err, wrong)
		}
		if err != nil {
			return usage(err)
		}
		o.Seed, o.Threads = stream.FromUint64(seed).Derive("papers", "calibrate"), runtime.GOMAXPROCS(0)
		thesaurus := o.Mechanisms == nil || slices.ContainsFunc(o.Mechanisms, needsThesaurus)
		o.Env, err = space.environment(cmd.Context(), thesaurus, o.Seed)
		if err != nil {
			return err
		}
		if text.Name != "" {
			o.Counts, err = privatize.Count(cmd.Context(), []table.Options{text}, o.Env.Space.Vocabulary, nil)
			if err != nil {
				return err
			}
		}
		all := []experiments.Calibrated{}
		err = experiments.Calibrate(cmd.Context(), o, func(rows []experiments.Calibrated, entry string) error {
			all = append(all, rows...)
			_, err := io.WriteString(a.text, entry)
			return err
		})
		a.add("mechanisms", all)
		return err
	})
}
