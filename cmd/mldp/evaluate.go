package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/results"
	"mldpbench/results/views"
)

func newEvaluateCommand() *cobra.Command {
	var o experiments.Evaluation
	var out string
	cmd := command("evaluate", "")
	f := cmd.Flags()
	f.StringVar(&o.Original.File, "original", "", "the table before privatising")
	f.StringArrayVar(&o.Versions, "privatised", nil, "a version, as FILE, NAME=FILE or NAME@EPSILON=FILE; FILE may be "+
		"column:COLUMN of the original; may be given more than once")
	f.StringSliceVar((*[]string)(&o.Original.Text), "text", nil, "columns of the text, in all files")
	f.StringVar(&o.Original.Label, "label", "", "column to predict, in the original (without one accuracy is not "+
		"measured)")
	textFlags(f, &o.Original.Delimiter, &o.Original.Encoding)
	f.StringVar(&o.Original.Private, "private", "", "column of the private label, in the original")
	f.StringVar(&o.ID, "id", "", "column with the id of the document, in all files (default: the order of rows)")
	setFlag(f, &o.Set)
	f.StringVar(&o.Encoder, "encoder", "", "measure CS with this sentence encoder: a folder with model.onnx, or a "+
		"name of sentence-transformers")
	f.IntVar(&o.Documents, "documents", 50, "documents compared for CS; -1 compares none")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the split and of training")
	f.StringSliceVar(&o.Against, "against", nil, "built-in mechanisms that are brought to what --at is for each version")
	f.StringVar(&o.At, "at", "linkage", "what is equal: linkage, label-found, pp or a quantity of mldp study keys")
	f.StringVar(&o.Embedding, "embedding", "glove.6B.100d", "of --against: "+embeddingHelp)
	dataFlag(cmd, &o.Root)
	outFlag(f, &out, "evaluation", "folder of rows, table and page")
	require(cmd, "original", "privatised", "text")
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		rows := filepath.Join(out, "results.csv")
		if err := mayWrite(cmd, nil, rows); err != nil {
			return err
		}
		study, notes, err := o.Study(cmd.Context())
		if err != nil {
			return err
		}
		options := engine.Options{Out: out, Log: cmd.ErrOrStderr(), Version: mldpVersion(),
			Command: commandLine(cmd.Context()), Force: true} // mayWrite was asked
		summary, err := experiments.Run(cmd.Context(), study, o.Root, options)
		var levels results.Levels
		if err == nil && len(o.Against) > 0 {
			if levels, err = o.Beside(study, summary.Rows); err == nil {
				summary, err = experiments.RunAligned(cmd.Context(), study, o.Root, options, levels)
			}
		}
		if err != nil {
			return err
		}
		for _, r := range summary.Rows {
			if !r.Value.Known() && r.Note != "" {
				notes = append(notes, fmt.Sprintf("%s, repetition %d: %s: %s", r.Mechanism, r.Repetition,
					results.MustColumn(r.Quantity).Title, r.Note))
			}
		}
		for _, n := range notes {
			fmt.Fprintln(cmd.ErrOrStderr(), n)
		}
		shown := views.Builtin().Versions
		if levels.Quantity != "" { // the pairs of texts at equal privacy, in place of those of all texts
			shown = append(shown[:1], results.Where(views.Builtin().Tables, func(v views.View) bool { return v.From == "pairs" })...)
		}
		a.Files = append(a.Files, rows)
		return writeOutputs(a, cmd.ErrOrStderr(), summary, outcome{levels: levels, tables: shown})
	})
}
