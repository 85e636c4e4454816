package main

import (
	"cmp"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
)

func newCalibrateCommand() *cobra.Command {
	var o experiments.Calibration
	var names []string
	var embedding string
	var program commandOptions
	cmd := command("calibrate", "")
	f := cmd.Flags()
	f.StringVar(&o.Target, "target", "", "nw=SHARE or em=SHARE; several shares with commas")
	f.StringVar(&o.Text.Name, "text", "", "file whose words are those that are hidden, and guessed by who knows how "+
		"often each occurs; its format is that of its suffix")
	f.StringArrayVar(&o.Text.Columns, "column", nil, "of --text; may be repeated")
	textFlags(f, &o.Text.Delimiter, &o.Text.Encoding)
	f.StringSliceVar(&names, "mechanism", nil, "mechanisms to calibrate (default: all that return words)")
	program.addFlags(cmd)
	f.StringVar(&embedding, "embedding", "glove.6B.100d", embeddingHelp)
	dataFlag(cmd, &o.Data)
	restrictFlag(f, &o.Restrict)
	vocabularyFlag(f, &o.Vocabulary, 10_000)
	countFlag(f, &o.Words, "count", 100, 1, "words drawn from the vocabulary, for nw")
	countFlag(f, &o.Runs, "runs", 20, 1, "runs per word, where there is no closed form")
	f.Float64Var(&o.Tolerance, "tolerance", 0.01, "how far above a target a value may be that ends its search")
	f.Uint64Var(&o.Seed, "seed", 2020, "seed")
	require(cmd, "target")
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) (err error) {
		if err := o.Text.Check(); err != nil {
			return err
		}
		o.Embedding, o.Log = study.NamedEmbedding(embedding), cmd.ErrOrStderr()
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
