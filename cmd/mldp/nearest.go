package main

import (
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/experiments/lab"
	"mldpbench/internal/check"
)

func init() { commands = append(commands, newNearestCommand) }

func newNearestCommand() *cobra.Command {
	var embedding, data string
	var words []string
	var k, dimension, vocabulary int
	cmd := &cobra.Command{
		Use:   "nearest",
		Short: "Print the nearest words of a word and their distances",
		Long: `Nearest prints, as CSV, the k nearest words of each word by Euclidean distance,
without the word itself. They show which words a mechanism is likely to return,
and the scale of epsilon in that space. The search is exact; words at equal
distance are in the order of the file.`,
		Example: `  mldp nearest --word movie --k 10 --embedding glove.6B.100d.txt
  mldp nearest --word food --word excellent --embedding generated --dimension 50`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := check.AtLeast("k", k, 1); err != nil {
				return &exitError{exitUsage, err}
			}
			if err := check.AtLeast("vocabulary", vocabulary, 0); err != nil {
				return &exitError{exitUsage, err}
			}
			space, err := lab.OpenSpace(cmd.Context(), embedding, dimension, data, embeddings.First(vocabulary, nil))
			if err != nil {
				return err
			}
			queries, ids, err := queriesOf(space, words)
			if err != nil {
				return err
			}
			found := make([]nearest.Neighbor, k*len(words))
			nearest.Of(space).SearchExcluding(found, queries, k, ids)
			w := csv.NewWriter(cmd.OutOrStdout())
			_ = w.Write([]string{"word", "rank", "neighbour", "distance"}) // errors stay until Flush
			for i, n := range found {
				if n.ID == embeddings.Unknown {
					continue // fewer than k other words
				}
				_ = w.Write([]string{words[i/k], strconv.Itoa(i%k + 1), space.Vocabulary.Word(n.ID),
					strconv.FormatFloat(n.Distance, 'f', 4, 64)})
			}
			w.Flush()
			return w.Error()
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&words, "word", nil, "words to look up; may be given more than once")
	f.IntVar(&k, "k", 10, "neighbours per word")
	f.StringVar(&embedding, "embedding", "", "vector file, name in the data folder, or generated")
	f.IntVar(&dimension, "dimension", 0, "dimension, where --embedding does not determine it")
	f.IntVar(&vocabulary, "vocabulary", 0, "search only this many first words; 0 searches all")
	f.StringVar(&data, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	require(cmd, "word", "embedding")
	return cmd
}

// queriesOf looks up words and returns their vectors, one after the other.
func queriesOf(space *embeddings.Space, words []string) (queries []float32, ids []embeddings.WordID, err error) {
	for _, w := range words {
		id := space.Vocabulary.ID(w)
		if id == embeddings.Unknown {
			if s := space.Vocabulary.Suggest(w); s != "" {
				return nil, nil, fmt.Errorf("%q is not in %s; did you mean %q?", w, space.Name, s)
			}
			return nil, nil, fmt.Errorf("%q is not among the %d words of %s", w, space.Len(), space.Name)
		}
		ids = append(ids, id)
		queries = append(queries, space.Vector(id)...)
	}
	return queries, ids, nil
}
