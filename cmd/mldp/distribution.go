package main

import (
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

func init() { commands = append(commands, newDistributionCommand) }

func newDistributionCommand() *cobra.Command {
	var o instanceOptions
	var word string
	var top, samples int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "distribution",
		Short: "Print the possible outputs for a word and their probabilities",
		Long: `Distribution prints, as CSV, the most probable outputs of a mechanism for one
word. Probabilities are exact where there is a closed form; otherwise they are
integrated numerically or sampled. Standard error states which, and the largest
error of a probability. The empty word stands for a deleted word.`,
		Example: `  mldp distribution --mechanism tem --epsilon 5 --word food --top 20 --embedding generated
  mldp distribution --mechanism cmp --epsilon 10 --word oil --embedding glove.6B.100d.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, err := range []error{check.AtLeast("top", top, 1), check.AtLeast("samples", samples, 1)} {
				if err != nil {
					return &exitError{exitUsage, err}
				}
			}
			root := stream.FromUint64(seed)
			m, err := o.open(cmd.Context(), root)
			if err != nil {
				return err
			}
			id := m.Vocabulary().ID(word)
			if id == embeddings.Unknown {
				return fmt.Errorf("word %q is not in the vocabulary", word)
			}
			d, err := distributionOf(m, id, samples, root)
			if err != nil {
				return err
			}
			how := "closed form"
			switch {
			case d.Samples > 0:
				how = fmt.Sprintf("%d samples, error of every probability at most %.2g (95%%)", d.Samples,
					d.AbsoluteError)
			case d.AbsoluteError > 0:
				how = fmt.Sprintf("numerical integration, error of every probability at most %.2g", d.AbsoluteError)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", instanceName(m.Settings()), how)
			return writeDistribution(cmd, m.Vocabulary(), d.Probabilities, top)
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&word, "word", "", "input word")
	f.IntVar(&top, "top", 20, "outputs to print")
	f.IntVar(&samples, "samples", 100_000, "samples, used where there is no exact method")
	f.Uint64Var(&seed, "seed", 0, "seed of the samples")
	require(cmd, "mechanism", "epsilon", "word")
	return cmd
}

func distributionOf(m mechanisms.Mechanism, id embeddings.WordID, samples int,
	seed stream.Seed) (mechanisms.Distribution, error) {
	if d, ok := m.(mechanisms.Distributor); ok {
		return d.Distribution(id)
	}
	return mechanisms.MonteCarlo(m, id, samples, seed.Derive("samples"))
}

func writeDistribution(cmd *cobra.Command, v *embeddings.Vocabulary, p []float64, top int) error {
	w := csv.NewWriter(cmd.OutOrStdout())
	_ = w.Write([]string{"rank", "word", "probability"}) // errors stay until Flush
	for rank, y := range likeliest(p, top) {
		_ = w.Write([]string{strconv.Itoa(rank + 1), v.Word(y), strconv.FormatFloat(p[y], 'g', 8, 64)})
	}
	w.Flush()
	return w.Error()
}
