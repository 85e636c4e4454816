package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/internal/check"
	"mldpbench/stream"
)

type describeOptions struct {
	request    datasets.Request
	cleaning   string
	balance    string
	seed       uint64
	embeddings []string
	dimension  int
}

func newDataDescribeCommand(dir *string) *cobra.Command {
	var o describeOptions
	cmd := completes(command("data-describe", "[NAME...]"), datasets.Names)
	o.addFlags(cmd)
	cmd.Flags().StringSliceVar(&o.embeddings, "embedding", nil, "embeddings whose coverage is measured: a name with "+
		"--dimension, or a file")
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		o.request.Root = *dir
		return o.run(cmd, args, a)
	})
}

// addFlags adds those of a sample of a data set, and of a dimension.
func (o *describeOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&o.request.Sizes.Train, "train", 0, "training documents (sizes all 0: the data set's own)")
	f.IntVar(&o.request.Sizes.Validation, "validation", 0, "validation documents")
	f.IntVar(&o.request.Sizes.Test, "test", 0, "test documents")
	f.IntVar(&o.request.MaxTokens, "max-tokens", 0, "cut documents after this many tokens (0: the data set's own "+
		"limit, -1: none)")
	f.StringVar(&o.cleaning, "cleaning", "", "sentiment, topic, content, words or none (default: the data set's own)")
	f.Uint64Var(&o.seed, "seed", 2024, "study seed, which determines the sample")
	f.StringVar(&o.request.File, "file", "", "read this file")
	f.StringVar(&o.request.Format, "format", "", "csv, tsv, jsonl, json or parquet (default: by the file's suffix)")
	textFlags(f, &o.request.Delimiter, &o.request.Encoding)
	f.StringVar(&o.balance, "balance", "", "no: keep the shares that the classes have in the source")
	f.StringSliceVar(&o.request.TextColumns, "text", nil, "text columns of your own table")
	f.StringVar(&o.request.LabelColumn, "label", "", "label column of your own table")
	dimensionFlag(f, &o.dimension)
}

// load prepares a data set as a study does.
func (o *describeOptions) load(ctx context.Context, name string) (*datasets.Dataset, error) {
	q := o.request
	q.Name, q.Cleaning = name, datasets.Cleaning(o.cleaning)
	if err := check.OneOf("balance", o.balance, "", "yes", "no"); err != nil {
		return nil, err
	}
	q.Unbalanced = o.balance == "no"
	q.Seed = stream.FromUint64(o.seed).Derive("dataset")
	return datasets.Load(ctx, q)
}

func (o *describeOptions) run(cmd *cobra.Command, names []string, a *answer) error {
	all := len(names) == 0
	if all {
		names = datasets.Names()
	}
	if o.request.File != "" && len(names) != 1 {
		return check.Wrong("--file describes exactly one data set: give its NAME")
	}
	var spaces []*embeddings.Space
	for _, ref := range o.embeddings {
		s, err := lab.OpenSpace(cmd.Context(), ref, o.dimension, o.request.Root, nil)
		if err != nil {
			return err
		}
		lab.WarnOneWord(cmd.ErrOrStderr(), s)
		spaces = append(spaces, s)
	}
	for _, name := range names {
		d, err := o.load(cmd.Context(), name)
		var missing *fetch.MissingError
		if all && errors.As(err, &missing) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not here; %s\n", name, missing.Hint())
			continue
		}
		if err == nil {
			fmt.Fprintln(a.text, name)
			err = a.table(name, []string{"fact", "value"}, description(d, spaces))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// description are the facts of a data set, by name.
func description(d *datasets.Dataset, spaces []*embeddings.Space) [][]any {
	s := datasets.Describe(d)
	kind := "Multi-class"
	switch len(d.Classes) {
	case 1:
		kind = "None"
	case 2:
		kind = "Binary"
	}
	rows := [][]any{
		{"title", d.Title},
		{"source", d.Source},
		{"rows in the source", d.SourceRows},
		{"different texts in the source", d.SourceTexts},
		{"task_type", fmt.Sprintf("%s (%s)", kind, strings.Join(d.Classes, ", "))},
		{"train_size", s.Table2.Documents},
		{"test_size", len(d.Test)},
		{"total_word_count", s.Table2.Words},
		{"vocab_size", s.Table2.Vocabulary},
		{"sent_len_mean", fixed{s.Table2.MeanLength, 2}},
		{"sent_len_sd", fixed{s.Table2.Deviation, 2}},
	}
	for _, c := range s.Splits {
		rows = append(rows, []any{c.Name, fmt.Sprintf("%d documents, per class %s; %d words, %d distinct, length %.2f ± %.2f",
			c.Counts.Documents, strings.Trim(fmt.Sprint(c.Classes), "[]"), c.Counts.Words, c.Counts.Vocabulary,
			c.Counts.MeanLength, c.Counts.Deviation)})
	}
	rows = append(rows, [][]any{
		{"vocabulary of all splits", s.Vocabulary},
		{"test documents also in train or validation", s.DuplicatesAcross},
		{"repeated within a split", s.DuplicatesWithin},
		{"texts with more than one label", s.Conflicting},
		{"documents without a word", s.Empty},
	}...)
	for _, space := range spaces {
		c := datasets.Cover(d, func(word string) bool { return space.Vocabulary.ID(word) != embeddings.Unknown })
		rows = append(rows, []any{"coverage by " + space.Name, fmt.Sprintf("%s of tokens, %s of words (%d dimensions, "+
			"%d vectors)", percent(c.KnownTokens, c.Tokens), percent(c.KnownWords, c.Words), space.Dimension, space.Len())})
	}
	if d.Note != "" {
		rows = append(rows, []any{"note", d.Note})
	}
	for _, w := range datasets.Warnings(d) {
		rows = append(rows, []any{"warning", w})
	}
	return append(rows, []any{"fingerprint", d.Fingerprint})
}

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}

func newDataVectorsCommand(dir *string) *cobra.Command {
	var o describeOptions
	var embedding, out string
	cmd := command("data-vectors", "NAME")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := mayWrite(cmd, reads(cmd, o.request.File), out); err != nil {
			return err
		}
		o.request.Root = *dir
		d, err := o.load(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c := lab.NewCorpus(d)
		wide, err := lab.OpenSpace(cmd.Context(), embedding, o.dimension, *dir, c.Has)
		if err != nil {
			return err
		}
		space, err := wide.Restrict(c.Has)
		if err != nil {
			return err
		}
		if err := output(cmd, out, space.WriteText); err != nil || out == "" {
			return err
		}
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d of %d words of %s, %d dimensions\n", out, space.Len(),
			len(c.Counts), d.Name, space.Dimension)
		return err
	}
	o.addFlags(cmd)
	cmd.Flags().StringVar(&embedding, "embedding", "", embeddingHelp)
	outFlag(cmd.Flags(), &out, "", "file (default: standard output)")
	require(cmd, "embedding")
	return cmd
}
