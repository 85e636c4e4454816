package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(privatiseGroup, newPrivatizeCommand) }

// newPrivatizeCommand privatises files.
func newPrivatizeCommand() *cobra.Command {
	var p experiments.Privatization
	cmd := command("privatize", "[FILE...]")
	cmd.Aliases = []string{"privatise"}
	instanceFlags(cmd, &p.Instance)
	programFlag(cmd, &p.Program)
	f := cmd.Flags()
	f.StringVar((*string)(&p.Input.Format), "format", "", "of the input: lines, csv, tsv, jsonl, json or parquet "+
		"(default: by the file's suffix)")
	textFlags(f, &p.Input.Delimiter, &p.Input.Encoding)
	f.StringArrayVar(&p.Input.Columns, "column", nil, "column or field to privatise; may be repeated")
	f.BoolVar(&p.Input.NoHeader, "no-header", false, "the first row is data; --column is a number from 1")
	f.StringVar(&p.Keep, "keep-words", "", "words that pass unchanged, such as stop words: "+wordsHelp)
	wordFlags(f, &p.Words)
	seed := f.Uint64("seed", 0, "for tests: repeat a run; undoes the protection (default: cryptographic)")
	keyFlags(f, &p.Keyed)
	f.StringVar(&p.Input.ID, "id", "", "with --key: the column that tells rows apart, or line for the number of a line")
	f.StringVar(&p.Ledger, "ledger", "", "with --key: file of all runs, to which this one is added")
	coresFlag(f, &p.Workers)
	f.Float64Var(&p.DocumentEpsilon, "document-epsilon", 0, "instead of --epsilon: privacy parameter of a whole line "+
		"or row, shared by its words")
	f.StringVar(&p.Target, "target", "", "instead of --epsilon: em=SHARE of the words of the file on which the best "+
		"guess is wrong, or game=SHARE of rounds in which an adversary says which of two texts was released; without "+
		"--mechanism by "+experiments.BestMechanism+", without --embedding over "+experiments.BestVectors)
	outFlag(f, &p.Out, "", "file to write (default: standard output), or folder of several files")
	f.StringVar(&p.Report, "report", "", "write the statements of standard error to this file, as JSON")
	require(cmd, "mechanism|command|target", "epsilon|document-epsilon|target", "embedding|command|target")
	cmd.MarkFlagsMutuallyExclusive("epsilon", "document-epsilon", "target")
	for _, flag := range []string{"target", "mechanism", "document-epsilon", "keep-words", "policy"} {
		cmd.MarkFlagsMutuallyExclusive("command", flag)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		// Vectors and rows of a mechanism stay in memory, batches of the text do
		// not. Without this setting the garbage collector would let memory double.
		if os.Getenv("GOGC") == "" {
			debug.SetGCPercent(50)
		}
		p.Call, err = callOf(cmd)
		if err != nil {
			return err
		}
		p.Paths = args
		if f.Changed("seed") {
			p.Seed = seed
		}
		p.Stdin = cmd.InOrStdin()
		p.Stdout = cmd.OutOrStdout()
		_, err = experiments.Privatize(cmd.Context(), p)
		return err
	}
	return cmd
}
