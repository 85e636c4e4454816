package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

func init() { commands = append(commands, newExplainCommand) }

func newExplainCommand() *cobra.Command {
	var o instanceOptions
	var list string
	var top, samples int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show the effect on given words, to choose an epsilon",
		Long: `Explain prints, for each word, its likeliest outputs with their probability and
the odds ("1 in 4"), and what an observer of the output may learn: for each pair
of the words, the largest factor by which the odds of one against the other may
change. A factor of 1 reveals nothing; 20 is close to certainty for many uses.
Words are looked up as in privatize: as spelled, or else in lower case.`,
		Example: `  mldp explain --mechanism cmp --epsilon 10 --embedding vectors.txt --words "superb awful London"
  mldp explain --mechanism tem --epsilon 3 --embedding vectors.txt --words words.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, err := range []error{check.AtLeast("top", top, 1), check.AtLeast("samples", samples, 1)} {
				if err != nil {
					return &exitError{exitUsage, err}
				}
			}
			words, err := wordsOf(list)
			if err != nil {
				return err
			}
			root := stream.FromUint64(seed)
			m, err := o.open(cmd.Context(), root)
			if err != nil {
				return err
			}
			return explain(cmd, m, words, top, samples, root)
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&list, "words", "", wordsHelp)
	f.IntVar(&top, "top", 5, "outputs to print per word")
	f.IntVar(&samples, "samples", 20_000, "samples, used where there is no exact method")
	f.Uint64Var(&seed, "seed", 0, "seed of the samples")
	require(cmd, "mechanism", "epsilon", "words")
	return cmd
}

// wordsHelp describes --words.
const wordsHelp = "a file of words separated by white space, or the words themselves"

// wordsOf reads a list of words, from a file of that name if there is one.
func wordsOf(list string) ([]string, error) {
	if info, err := os.Stat(list); err == nil && !info.IsDir() {
		return readWords(list)
	}
	if words := strings.Fields(list); len(words) > 0 {
		return words, nil
	}
	return nil, &exitError{exitUsage, fmt.Errorf("words = %q: must be a file or words", list)}
}

// findWord looks a word up as privatize does.
func findWord(v *embeddings.Vocabulary, word string) mechanisms.WordID {
	if id := v.ID(word); id != embeddings.Unknown {
		return id
	}
	return v.ID(strings.ToLower(word))
}

func explain(cmd *cobra.Command, m mechanisms.Mechanism, words []string, top, samples int, seed stream.Seed) error {
	v, out := m.Vocabulary(), cmd.OutOrStdout()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORD\tBECOMES\tPROBABILITY\tODDS")
	var known []mechanisms.WordID
	for _, word := range words {
		id := findWord(v, word)
		if id == embeddings.Unknown {
			fmt.Fprintf(w, "%s\tnot in the vocabulary: see --policy of mldp privatize\t\t\n", word)
			continue
		}
		if slices.Contains(known, id) {
			continue
		}
		known = append(known, id)
		d, err := distributionOf(m, id, samples, seed.At(uint64(id)))
		if err != nil {
			return err
		}
		for i, y := range likeliest(d.Probabilities, top) {
			name := ""
			if i == 0 {
				name = v.Word(id)
			}
			p := d.Probabilities[y]
			fmt.Fprintf(w, "%s\t%s\t%.4f\t1 in %.3g\n", name, v.Word(y), p, 1/p)
		}
		if others := others(d.Probabilities, top); others.words > 0 {
			fmt.Fprintf(w, "\t(%d others)\t%.4f\t1 in %.3g\n", others.words, others.mass, 1/others.mass)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	g := m.Guarantee()
	fmt.Fprintf(out, "\n%s; guarantee per word: %s\n", instanceName(m.Settings()), g)
	if !g.Holds() || g.Distance == nil || len(known) < 2 {
		return nil
	}
	return explainPairs(out, v, g, known)
}

// explainPairs prints what the guarantee means for each pair.
func explainPairs(out io.Writer, v *embeddings.Vocabulary, g mechanisms.Guarantee, words []mechanisms.WordID) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nBETWEEN\tDISTANCE (%s)\tODDS CHANGE BY AT MOST A FACTOR OF\n", g.Metric)
	for i, a := range words {
		for _, b := range words[i+1:] {
			d := g.Distance(a, b)
			fmt.Fprintf(w, "%s / %s\t%.3g\t%s\n", v.Word(a), v.Word(b), d, privatize.Factor(g.Epsilon*d))
		}
	}
	return w.Flush()
}

// likeliest returns the words with the largest probabilities, without those of
// 0.
func likeliest(p []float64, top int) []mechanisms.WordID {
	order := make([]mechanisms.WordID, 0, len(p))
	for y, x := range p {
		if x > 0 {
			order = append(order, mechanisms.WordID(y))
		}
	}
	slices.SortStableFunc(order, func(a, b mechanisms.WordID) int {
		switch {
		case p[a] > p[b]:
			return -1
		case p[a] < p[b]:
			return 1
		}
		return 0
	})
	return order[:min(top, len(order))]
}

// rest is the probability of all other outputs.
type rest struct {
	words int
	mass  float64
}

func others(p []float64, top int) (r rest) {
	shown := likeliest(p, top)
	for y, x := range p {
		if x > 0 && !slices.Contains(shown, mechanisms.WordID(y)) {
			r.words++
			r.mass += x
		}
	}
	return r
}
