package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(privatiseGroup, newExplainCommand) }

// wordsHelp describes --words and --keep-words.
const wordsHelp = "a file of words separated by white space, or the words themselves"

// newExplainCommand shows what becomes of words, or which are near them.
func newExplainCommand() *cobra.Command {
	var e experiments.Explanation
	cmd := command("explain", "")
	instanceFlags(cmd, &e.Instance)
	f := cmd.Flags()
	f.StringVar(&e.Of, "words", "", wordsHelp)
	countFlag(f, &e.Top, "top", 5, 1, "outputs to print per word")
	countFlag(f, &e.Samples, "samples", 20_000, 1, "samples, used where there is no exact method")
	f.Uint64Var(&e.Seed, "seed", 0, "seed of samples")
	require(cmd, "words", "embedding")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		e.Call = call
		return experiments.Explain(cmd.Context(), e)
	})
}
