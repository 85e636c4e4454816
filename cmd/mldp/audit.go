package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
)

func init() { addCommand(privatiseGroup, newAuditCommand) }

// newAuditCommand looks for pairs of words at which a mechanism breaks its guarantee.
func newAuditCommand() *cobra.Command {
	var a experiments.Auditing
	cmd := command("audit", "")
	instanceFlags(cmd, &a.Instance)
	programFlag(cmd, &a.Program)
	f := cmd.Flags()
	f.BoolVar(&a.Grid, "grid", false, "all mechanisms and variants, default parameters")
	f.BoolVar(&a.Documents, "documents", false, "look for pairs of texts: --epsilon is that of a document")
	f.Float64SliceVar(&a.Epsilons, "epsilons", []float64{1, 5, 10}, "epsilons of the grid")
	f.Float64Var(&a.Options.Alpha, "alpha", 1e-6, "probability of a false accusation, per line")
	countFlag(f, &a.Options.Samples, "samples", 200_000, 1, "samples per word and test; of --documents: texts in all")
	countFlag(f, &a.Options.Words, "count", 0, 1,
		"words to look at (default: 1000 exact, 300 sampled), spread over frequency, density and length")
	countFlag(f, &a.Bag, "bag", 0, 1, "bags of so many words, 6 at most, in place of single words")
	f.Uint64Var(&a.Seed, "seed", 0, "seed of pairs and samples")
	cmd.MarkFlagsMutuallyExclusive("grid", "mechanism", "command")
	cmd.MarkFlagsMutuallyExclusive("grid", "documents", "bag")
	require(cmd, "grid|mechanism|command", "epsilon|grid", "embedding|documents")
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, _ []string) (*experiments.Outcome, error) {
		a.Call = call
		return experiments.Audit(cmd.Context(), a)
	})
}
