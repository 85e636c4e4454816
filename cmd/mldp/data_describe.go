package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/models/transformer"
	"mldpbench/stream"
)

type describeOptions struct {
	request    datasets.Request
	cleaning   string
	seed       uint64
	embeddings []string
	dimension  int
}

func newDataDescribeCommand(dir *string) *cobra.Command {
	var o describeOptions
	cmd := &cobra.Command{
		Use:   "describe [NAME|FOLDER...]",
		Short: "Print counts, lengths, vocabulary, balance, duplicates and fingerprint; what a model can serve for",
		Long: `Describe prepares data sets as a study does and prints, for each, the rows of
the comparative study's Table 2 (train and validation together), documents per
class and split, duplicates, the share of tokens an embedding covers, and the
fingerprint that goes into records. Without a name it describes all data sets in
the data folder.

Use --file, --text and, if there is one, --label for your own table (CSV, TSV,
JSON lines, JSON array or Parquet).

Of a folder with model.onnx and tokenizer.json, by its path or by its name in the
data folder, it prints what the model can serve for in a study: encoder, masked
or causal language model, vectors of tokens.`,
		Example: `  mldp data describe imdb --embedding glove.6B --dimension 100
  mldp data describe generated-news --train 200 --validation 50 --test 50
  mldp data describe mine --file reviews.csv --text title,body --label stars`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.request.Root = *dir
			return o.run(cmd, args)
		},
	}
	o.addFlags(cmd)
	cmd.Flags().StringSliceVar(&o.embeddings, "embedding", nil, "embeddings whose coverage is measured: a name with "+
		"--dimension, or a file")
	return cmd
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
	f.StringVar(&o.request.Delimiter, "delimiter", "", "of CSV and TSV, such as \";\" (default: that of the format)")
	f.StringSliceVar(&o.request.TextColumns, "text", nil, "text columns of your own table")
	f.StringVar(&o.request.LabelColumn, "label", "", "label column of your own table")
	f.IntVar(&o.dimension, "dimension", 0, "dimension of the embeddings")
}

// load prepares a data set as a study does.
func (o *describeOptions) load(ctx context.Context, name string) (*datasets.Dataset, error) {
	q := o.request
	q.Name, q.Cleaning = name, datasets.Cleaning(o.cleaning)
	q.Seed = stream.FromUint64(o.seed).Derive("dataset")
	return datasets.Load(ctx, q)
}

func (o *describeOptions) run(cmd *cobra.Command, names []string) error {
	all := len(names) == 0
	if all {
		names = datasets.Names()
	}
	if o.request.File != "" && len(names) != 1 {
		return &exitError{exitUsage, errors.New("--file describes exactly one data set: give its NAME")}
	}
	var spaces []*embeddings.Space
	for _, ref := range o.embeddings {
		s, err := lab.OpenSpace(cmd.Context(), ref, o.dimension, o.request.Root, nil)
		if err != nil {
			return err
		}
		spaces = append(spaces, s)
	}
	for _, name := range names {
		if dir := lab.Folder(o.request.Root, name); o.request.File == "" && !slices.Contains(datasets.Names(), name) &&
			isFolder(dir) {
			d, err := transformer.Describe(dir)
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), d)
			continue
		}
		d, err := o.load(cmd.Context(), name)
		var missing *fetch.MissingError
		if all && errors.As(err, &missing) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: not here; %s\n", name, missing.Hint())
			continue
		}
		if err != nil {
			return err
		}
		if err := printDescription(cmd.OutOrStdout(), d, spaces); err != nil {
			return err
		}
	}
	return nil
}

func printDescription(out io.Writer, d *datasets.Dataset, spaces []*embeddings.Space) error {
	s := datasets.Describe(d)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(label, format string, args ...any) {
		fmt.Fprintf(w, "  %s\t%s\n", label, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(w, "%s\n", d.Name)
	row("title", "%s", d.Title)
	row("source", "%s", d.Source)
	row("rows in the source", "%d, %d different texts", d.SourceRows, d.SourceTexts)
	kind := "Multi-class"
	switch len(d.Classes) {
	case 1:
		kind = "None"
	case 2:
		kind = "Binary"
	}
	row("task_type", "%s (%s)", kind, strings.Join(d.Classes, ", "))
	row("train_size", "%d", s.Table2.Documents)
	row("test_size", "%d", len(d.Test))
	row("total_word_count", "%d", s.Table2.Words)
	row("vocab_size", "%d", s.Table2.Vocabulary)
	row("sent_len_mean", "%.2f", s.Table2.MeanLength)
	row("sent_len_sd", "%.2f", s.Table2.Deviation)
	for _, c := range s.Splits {
		row(c.Name, "%d documents, per class %s; %d words, %d distinct, length %.2f ± %.2f", c.Counts.Documents,
			strings.Trim(fmt.Sprint(c.Classes), "[]"), c.Counts.Words, c.Counts.Vocabulary, c.Counts.MeanLength,
			c.Counts.Deviation)
	}
	row("vocabulary of all splits", "%d", s.Vocabulary)
	row("test documents also in train or validation", "%d", s.DuplicatesAcross)
	row("repeated within a split", "%d", s.DuplicatesWithin)
	row("texts with more than one label", "%d", s.Conflicting)
	row("documents without a word", "%d", s.Empty)
	for _, space := range spaces {
		c := datasets.Cover(d, func(word string) bool { return space.Vocabulary.ID(word) != embeddings.Unknown })
		row("coverage by "+space.Name, "%s of tokens, %s of words (%d dimensions, %d vectors)",
			percent(c.KnownTokens, c.Tokens), percent(c.KnownWords, c.Words), space.Dimension, space.Len())
	}
	row("fingerprint", "%s", d.Fingerprint)
	return w.Flush()
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func percent(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(part)/float64(whole))
}
