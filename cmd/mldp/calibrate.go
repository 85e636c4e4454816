package main

import (
	"cmp"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/results"
)

// embeddingFlag is an embedding named on the command line.
func embeddingFlag(ref string) study.EmbeddingSpec {
	dimension := 0
	e := study.EmbeddingSpec{Name: ref}
	if study.NamesFile(ref) {
		e.Name, e.File = "", ref
	} else if i, d := study.DimensionSuffix(ref); i > 0 {
		e.Name, dimension = ref[:i], d // glove.6B.100d is glove.6B at 100
	}
	if ref == study.GeneratedEmbedding {
		dimension = 50
	}
	if dimension != 0 {
		e.Dimensions = []int{dimension}
	}
	return e
}

func newCalibrateCommand() *cobra.Command {
	var o experiments.CalibrateRequest
	var targets, names []string
	var embedding, format, restrict string
	var program commandOptions
	cmd := command("calibrate", "")
	f := cmd.Flags()
	f.StringSliceVar(&targets, "target", nil, "nw=SHARE or em=SHARE; several with commas")
	f.StringSliceVar(&names, "mechanism", nil, "mechanisms to calibrate (default: all that return words)")
	program.addFlags(cmd)
	f.StringVar(&embedding, "embedding", "glove.6B.100d", embeddingHelp)
	dataFlag(cmd, &o.Data)
	restrictFlag(f, &restrict)
	vocabularyFlag(f, &o.Vocabulary, 10_000)
	countFlag(f, &o.Words, "count", 100, 1, "words drawn from the vocabulary, for nw")
	countFlag(f, &o.Runs, "runs", 20, 1, "runs per word, where there is no closed form")
	f.Float64Var(&o.Tolerance, "tolerance", 0.01, "how far above a target a value may be that ends its search")
	f.StringVar(&format, "format", "csv", "csv, or yaml for a study")
	f.Uint64Var(&o.Seed, "seed", 2020, "seed")
	require(cmd, "target")
	exclude(cmd, "mechanism", "command")
	prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) (err error) {
		o.Embedding = embeddingFlag(embedding)
		o.Log = cmd.ErrOrStderr()
		if o.Targets, err = experiments.ParseTargets(targets); err != nil {
			return usage(err)
		}
		if err := errors.Join(check.OneOf("format", format, "csv", "yaml"),
			check.Within("tolerance", o.Tolerance, 0, 1)); err != nil {
			return err
		}
		if restrict != "" {
			o.Restrict = &study.DatasetSpec{Name: restrict}
		}
		if program.line != "" {
			o.Mechanisms, err = program.settings()
		} else {
			for _, name := range names {
				s, wrong := parseInstance(name)
				o.Mechanisms, err = append(o.Mechanisms, s), cmp.Or(err, wrong)
			}
		}
		if err != nil {
			return usage(err)
		}
		all := []experiments.CalibratedMechanism{}
		line := results.RowWriter[experiments.CalibratedMechanism](a.text)
		err = experiments.Calibrate(cmd.Context(), o, func(rows []experiments.CalibratedMechanism, entry string) error {
			all = append(all, rows...)
			if format == "yaml" {
				_, err := io.WriteString(a.text, entry)
				return err
			}
			for _, row := range rows {
				if err := line(row); err != nil {
					return err
				}
			}
			return nil
		})
		a.add("mechanisms", all)
		return err
	})
	exclude(cmd, "json", "format")
	return cmd
}
