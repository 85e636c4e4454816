package main

import (
	"cmp"
	"context"
	"errors"
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
	"mldpbench/stream"
)

// explainOptions are the flags of mldp explain.
type explainOptions struct {
	instance     instanceOptions
	command      commandOptions
	words        string
	top, samples int
	seed         uint64
}

func newExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := command("explain", "")
	prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error { return o.run(cmd, a) })
	o.instance.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.words, "words", "", wordsHelp)
	countFlag(f, &o.top, "top", 5, 1, "outputs to print per word")
	countFlag(f, &o.samples, "samples", 20_000, 1, "samples, used where there is no exact method")
	f.Uint64Var(&o.seed, "seed", 0, "seed of samples")
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	require(cmd, "words", "embedding")
	return cmd
}

func (o *explainOptions) run(cmd *cobra.Command, a *answer) error {
	words, err := wordsOf(o.words)
	if err != nil {
		return err
	}
	root := stream.FromUint64(o.seed)
	if o.instance.mechanism == "" && o.command.line == "" {
		return o.neighbours(cmd, words, root, a)
	}
	if !cmd.Flags().Changed("epsilon") {
		return check.Wrong("missing: --epsilon")
	}
	m, _, end, err := o.command.orBuiltIn(cmd.Context(), &o.instance, root)
	if err != nil {
		return err
	}
	known, err := findWords(cmd, m.Vocabulary(), words, o.words)
	if err == nil {
		err = o.outputs(cmd, m, known, root, a)
	}
	return errors.Join(err, end())
}

// neighbours prints the nearest words of vectors, where no mechanism is named.
func (o *explainOptions) neighbours(cmd *cobra.Command, words []string, root stream.Seed, a *answer) error {
	env, err := o.instance.space.environment(cmd.Context(), false, root)
	if err != nil {
		return err
	}
	known, err := findWords(cmd, env.Space.Vocabulary, words, o.words)
	if err != nil {
		return err
	}
	k := min(o.top+1, env.Space.Len())
	var rows [][]any
	for i, n := range nearest.Of(env.Space).Words(known, k) {
		if id := known[i/k]; n.ID != id {
			rows = append(rows, []any{env.Space.Vocabulary.Word(id), env.Space.Vocabulary.Word(n.ID),
				env.Space.Distance(id, n.ID)})
		}
	}
	return a.table("neighbours", []string{"word", "neighbour", "distance"}, rows)
}

// wordsHelp describes --words.
const wordsHelp = "a file of words separated by white space, or the words themselves"

// fileName is a name that is one of a file rather than a word.
var fileName = regexp.MustCompile(`/|\\|\.(txt|csv|tsv|lst|list|dic|json|jsonl|words|stop|gz)$`)

// wordsOf reads a list of words, from a file of that name if there is one.
func wordsOf(list string) ([]string, error) {
	info, err := os.Stat(list)
	if err != nil || info.IsDir() {
		words := strings.Fields(list)
		if err != nil && len(words) == 1 && fileName.MatchString(list) {
			return nil, check.Wrong("%s: there is no such file of words", list)
		}
		if len(words) > 0 {
			return words, nil
		}
		return nil, check.Wrong("words = %q: must be a file or words", list)
	}
	var words []string
	err = table.Each(context.Background(), list, table.Options{Format: table.Lines}, func(r table.Row) error {
		words = append(words, strings.Fields(r.Values[0].Text)...)
		return nil
	})
	return words, err
}

// findWords looks words up as privatize does, each once; standard error names
// those that the vocabulary does not have.
func findWords(cmd *cobra.Command, v *embeddings.Vocabulary, words []string, from string) (ids []embeddings.WordID,
	err error) {
	for _, w := range words {
		id := v.ID(w)
		if id == embeddings.Unknown {
			id = v.ID(strings.ToLower(w))
		}
		switch {
		case id == embeddings.Unknown:
			fmt.Fprintf(cmd.ErrOrStderr(), "%q is not in the vocabulary\n", w)
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s: no word of the vocabulary in it", from)
	}
	return ids, nil
}

// outputs prints the likeliest outputs of words, and says how their
// probabilities are known and what is guaranteed.
func (o *explainOptions) outputs(cmd *cobra.Command, m *mechanisms.Mechanism, words []embeddings.WordID,
	seed stream.Seed, a *answer) error {
	how := "closed form"
	bar := progress.Start(cmd.Context(), "words", len(words))
	defer bar.Close()
	v := m.Vocabulary()
	var rows [][]any
	for _, id := range words {
		d, err := mechanisms.Outputs(cmd.Context(), m, id, o.samples, seed.At(uint64(id)).Derive("samples"))
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
		for _, y := range order[:min(o.top, len(order))] {
			rows = append(rows, []any{v.Word(id), v.Word(y), d.Probabilities[y]})
		}
		bar.Add(1, v.Word(id))
	}
	bar.Close()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s; guarantee per word: %s\n", instanceName(m.Settings()), how, m.Guarantee())
	return a.table("outputs", []string{"word", "becomes", "probability"}, rows)
}
