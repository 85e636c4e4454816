package main

import (
	"context"
	"errors"
	"fmt"
	"mldpbench/experiments/study"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/fetch"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/internal/check"
	"mldpbench/stream"
)

// describeOptions say what a study would: a data set with the keys of its entry.
type describeOptions struct {
	file, label string
	text, set   []string
	embeddings  []string
	root        string
	seed        uint64
}

func newDataDescribeCommand(dir *string) *cobra.Command {
	var o describeOptions
	cmd := completes(command("data-describe", "[NAME...]"), datasets.Names)
	o.addFlags(cmd)
	cmd.Flags().StringSliceVar(&o.embeddings, "embedding", nil, "embeddings whose coverage is measured: "+embeddingHelp)
	return prints(cmd, func(cmd *cobra.Command, args []string, a *answer) error {
		o.root = *dir
		return o.run(cmd, args, a)
	})
}

func (o *describeOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "file", "", "read this file of your own")
	f.StringSliceVar(&o.text, "text", nil, "its text columns")
	f.StringVar(&o.label, "label", "", "its label column")
	f.StringArrayVar(&o.set, "set", nil, "key=value of a data set of a study, as in train=200, encoding=latin1 or "+
		"balance=no; may be given more than once")
	f.Uint64Var(&o.seed, "seed", 2024, "study seed, which determines the sample")
}

// load prepares a data set as a study does.
func (o *describeOptions) load(ctx context.Context, name string) (*datasets.Dataset, error) {
	spec, err := study.DatasetSpec{Name: name, File: o.file, Text: o.text, Label: o.label}.Set(o.set)
	if err != nil {
		return nil, err
	}
	return datasets.Load(ctx, spec.Request(o.root, stream.FromUint64(o.seed).Derive("dataset")))
}

func (o *describeOptions) run(cmd *cobra.Command, names []string, a *answer) error {
	all := len(names) == 0
	if all {
		names = datasets.Names()
	}
	if o.file != "" && len(names) != 1 {
		return check.Wrong("--file describes exactly one data set: give its NAME")
	}
	var spaces []*embeddings.Space
	for _, ref := range o.embeddings {
		s, err := lab.OpenSpace(cmd.Context(), ref, 0, o.root, nil)
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
		{"task_type", fmt.Sprintf("%s (%s)", kind, strings.Join(d.Classes, ", "))},
		{"train_size", s.TrainDocuments},
		{"test_size", s.TestDocuments},
		{"total_word_count", s.Tokens},
		{"vocab_size", s.Vocabulary},
		{"sent_len_mean", s.LengthMean},
		{"sent_len_sd", s.LengthSD},
		{"train and validation per class", strings.Trim(fmt.Sprint(s.TrainClasses), "[]")},
		{"test per class", strings.Trim(fmt.Sprint(s.TestClasses), "[]")},
	}
	for _, space := range spaces {
		var tokens, known, words int
		c := lab.NewCorpus(d)
		for word, n := range c.Counts {
			if tokens += n; space.Vocabulary.ID(word) != embeddings.Unknown {
				known, words = known+n, words+1
			}
		}
		rows = append(rows, []any{"coverage by " + space.Name, fmt.Sprintf("%s of tokens, %s of words (%d dimensions, "+
			"%d vectors)", percent(known, tokens), percent(words, len(c.Counts)), space.Dimension, space.Len())})
	}
	if d.Note != "" {
		rows = append(rows, []any{"note", d.Note})
	}
	for _, w := range s.Warnings {
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
		if err := mayWrite(cmd, reads(cmd, o.file), out); err != nil {
			return err
		}
		o.root = *dir
		d, err := o.load(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		c := lab.NewCorpus(d)
		wide, err := lab.OpenSpace(cmd.Context(), embedding, 0, *dir, c.Has)
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
