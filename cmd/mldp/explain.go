package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

func newExplainCommand() *cobra.Command {
	var instance instanceOptions
	var words string
	var top, samples int
	var seed uint64
	cmd := command("explain", "")
	prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		list, err := wordsOf(words)
		if err != nil {
			return err
		}
		root := stream.FromUint64(seed)
		if instance.mechanism == "" {
			env, err := instance.space.environment(cmd.Context(), false, root)
			if err != nil {
				return err
			}
			return neighbours(cmd, env.Space, list, top, a)
		}
		s, env, err := instance.environment(cmd.Context(), root)
		if err != nil {
			return err
		}
		m, err := mechanisms.New(env, s)
		if err != nil {
			return err
		}
		return outputs(cmd, m, list, top, samples, root, a)
	})
	instance.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&words, "words", "", wordsHelp)
	countFlag(f, &top, "top", 5, 1, "outputs to print per word")
	countFlag(f, &samples, "samples", 20_000, 1, "samples, used where there is no exact method")
	f.Uint64Var(&seed, "seed", 0, "seed of samples")
	require(cmd, "words", "embedding")
	return cmd
}

// known looks words up as privatize does, each once; standard error names those that
// the vocabulary does not have.
func known(cmd *cobra.Command, v *embeddings.Vocabulary, words []string) (ids []embeddings.WordID, err error) {
	for _, w := range words {
		id := privatize.Lookup(v, w)
		if id == embeddings.Unknown {
			fmt.Fprintf(cmd.ErrOrStderr(), "%q is not in the vocabulary\n", w)
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		err = check.Wrong("words: none of them is in the vocabulary")
	}
	return ids, err
}

// neighbours prints the nearest words of vectors, where no mechanism is named.
func neighbours(cmd *cobra.Command, s *embeddings.Space, words []string, top int, a *answer) error {
	ids, err := known(cmd, s.Vocabulary, words)
	if err != nil {
		return err
	}
	var rows [][]any
	k := min(top+1, s.Len())
	for i, n := range nearest.Of(s).Words(ids, k) {
		if id := ids[i/k]; n.ID != id {
			rows = append(rows, []any{s.Vocabulary.Word(id), s.Vocabulary.Word(n.ID), n.Distance})
		}
	}
	return a.table("neighbours", []string{"word", "neighbour", "distance"}, rows)
}

// outputs prints the likeliest outputs of words, and says how their probabilities
// are known and what is guaranteed.
func outputs(cmd *cobra.Command, m *mechanisms.Mechanism, words []string, top, samples int, seed stream.Seed,
	a *answer) error {
	how := "closed form"
	v := m.Vocabulary()
	ids, err := known(cmd, v, words)
	if err != nil {
		return err
	}
	bar := progress.Start(cmd.Context(), "words", len(ids))
	defer bar.Close()
	var rows [][]any
	for _, id := range ids {
		d, err := mechanisms.Outputs(cmd.Context(), m, id, samples, seed.At(uint64(id)).Derive("samples"))
		if err != nil {
			return err
		}
		if d.Samples > 0 {
			how = fmt.Sprintf("%d samples, error of every probability at most %.2g (95%%)", d.Samples, d.Error)
		}
		order := slices.DeleteFunc(v.IDs(), func(y embeddings.WordID) bool { return d.Probabilities[y] == 0 })
		slices.SortStableFunc(order, func(a, b embeddings.WordID) int {
			return cmp.Compare(d.Probabilities[b], d.Probabilities[a])
		})
		for _, y := range order[:min(top, len(order))] {
			rows = append(rows, []any{v.Word(id), v.Word(y), d.Probabilities[y]})
		}
		bar.Add(1, v.Word(id))
	}
	bar.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s; guarantee per word: %s\n", instanceName(m.Settings()), how, m.Guarantee())
	return a.table("outputs", []string{"word", "becomes", "probability"}, rows)
}

// wordsHelp describes --words and --keep-words.
const wordsHelp = "a file of words separated by white space, or the words themselves"

// fileName is a name that is one of a file rather than a word.
var fileName = regexp.MustCompile(`/|\\|\.(txt|csv|tsv|lst|list|dic|json|jsonl|words|stop|gz)$`)

// wordsOf reads a list of words, from a file of that name if there is one.
func wordsOf(list string) (words []string, err error) {
	if info, err := os.Stat(list); err == nil && !info.IsDir() {
		return words, table.LinesOf(list, func(line string) error {
			words = append(words, strings.Fields(line)...)
			return nil
		})
	}
	words = strings.Fields(list)
	switch {
	case len(words) == 0:
		err = check.Wrong("words = %q: must be a file or words", list)
	case len(words) == 1 && fileName.MatchString(list):
		err = check.Wrong("%s: there is no such file of words", list)
	}
	return words, err
}
