package main

import (
	"github.com/spf13/cobra"

	"mldpbench/experiments"
	"mldpbench/experiments/study"
)

func init() { addCommand(privatiseGroup, newMechanismsCommand) }

// newMechanismsCommand lists mechanisms.
func newMechanismsCommand() *cobra.Command {
	var l experiments.MechanismListing
	cmd := completes(command("mechanisms", "[NAME...]"), flagValues["mechanism"])
	cmd.Flags().Float64Var(&l.Epsilon, "epsilon", 10, "privacy parameter per word")
	vectorFlags(cmd, &l.Vectors, study.GeneratedEmbedding, 0)
	return answers(cmd, func(cmd *cobra.Command, call experiments.Call, names []string) (*experiments.Outcome, error) {
		l.Call = call
		l.Names = names
		return experiments.ListMechanisms(cmd.Context(), l)
	})
}
