package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(studyGroup, newEvaluateCommand) }

// newEvaluateCommand measures tables that were privatised elsewhere.
func newEvaluateCommand() *cobra.Command {
	var e experiments.Evaluation
	cmd := command("evaluate", "")
	f := cmd.Flags()
	f.StringVar(&e.Original.File, "original", "", "the table before privatising")
	f.StringArrayVar(&e.Versions, "privatised", nil, "a version, as FILE, NAME=FILE or NAME@EPSILON=FILE; FILE may be "+
		"column:COLUMN of the original; may be given more than once")
	f.StringSliceVar((*[]string)(&e.Original.Text), "text", nil, "columns of the text, in all files")
	f.StringVar(&e.Original.Label, "label", "", "column to predict, in the original (without one accuracy is not "+
		"measured)")
	textFlags(f, &e.Original.Delimiter, &e.Original.Encoding)
	f.StringVar(&e.Original.Private, "private", "", "column of the private label, in the original")
	f.StringVar(&e.ID, "id", "", "column with the id of the document, in all files (default: the order of rows)")
	setFlag(f, &e.Set)
	f.StringVar(&e.Encoder, "encoder", "", "measure CS with this sentence encoder: a folder with model.onnx, or a "+
		"name of sentence-transformers")
	f.IntVar(&e.Documents, "documents", 50, "documents compared for CS; -1 compares none")
	f.Uint64Var(&e.Seed, "seed", 1, "seed of the split and of training")
	f.StringSliceVar(&e.Against, "against", nil,
		"built-in mechanisms that are brought to what --at is for each version")
	f.StringVar(&e.At, "at", "linkage", "what is equal: linkage, label-found, pp, game or a quantity of mldp study "+
		"keys")
	f.StringVar(&e.Rows, "rows", "", "file of CSV that says how far each text is re-identified, and which to look at")
	f.StringVar(&e.Embedding, "embedding", "glove.6B.100d", "of --against: "+embeddingHelp)
	outFlag(f, &e.Out, "evaluation", "folder of rows, table and page")
	require(cmd, "original", "privatised", "text")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		e.Call = call
		return experiments.Evaluate(cmd.Context(), e)
	})
}
