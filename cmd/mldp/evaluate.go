package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gocarina/gocsv"
	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/experiments/evaluate"
	"mldpbench/internal/atomicfile"
	"mldpbench/plots"
	"mldpbench/plots/report"
	"mldpbench/results"
)

func init() { commands = append(commands, newEvaluateCommand) }

func newEvaluateCommand() *cobra.Command {
	var o evaluate.Options
	var versions []string
	var out, cleaning, repetition string
	cmd := &cobra.Command{
		Use:   "evaluate",
		Short: "Measure privatised versions of a table made by any tool",
		Long: `Evaluate compares one or more privatised versions of a table with the original,
without a study file. It measures the accuracy of a linear support vector
machine on tf-idf that is trained and tested on the version, PP where its tokens
align with the original, CS, LOW, the share of English tokens and, with
--private, how often an attacker that trains on the version guesses that column
correctly. Perplexity is that of the median test document under a model of pairs
of words of the original; the model treats all words that do not occur twice in
the original as one. Overlap is the share of words in both texts; linked is the
share of documents whose original is found by an attacker that has all
originals. Metrics that make no sense or lack a resource are left out, and
standard error lists them.

A version is FILE, NAME=FILE or NAME@EPSILON=FILE; a folder has one repetition
per file. Files are CSV, TSV, JSON lines or plain lines. Rows are matched by
--id or else by order. Table, figures and report are written to --out.`,
		Example: `  mldp evaluate --original reviews.csv --privatised reviews.csv --text body --label stars --documents -1 --out evaluation
  mldp evaluate --original my-reviews.csv --privatised cmp@10=my-a.csv --privatised dp-prompt=my-b.csv --text body --label stars --private author`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, s := range versions {
				v, err := evaluate.ParseVersion(s)
				if err != nil {
					return &exitError{exitUsage, err}
				}
				v.Repetition = repetition
				o.Versions = append(o.Versions, v)
			}
			o.Cleaning = datasets.Cleaning(cleaning)
			started := time.Now()
			r, err := evaluate.Run(cmd.Context(), o)
			if err != nil {
				return err
			}
			for _, n := range r.Notes {
				fmt.Fprintln(cmd.ErrOrStderr(), n)
			}
			t := evaluationTable(r.Rows)
			if err := printBrief(cmd.OutOrStdout(), t); err != nil {
				return err
			}
			return writeEvaluation(cmd, out, r, t, started)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Original, "original", "", "the table before privatising")
	f.StringArrayVar(&versions, "privatised", nil, "a version, as FILE, NAME=FILE or NAME@EPSILON=FILE; may be "+
		"given more than once")
	f.StringSliceVar(&o.Text, "text", nil, "columns of the text, in all files")
	f.StringVar(&o.Label, "label", "", "column to predict, in the original")
	f.StringVar(&o.Private, "private", "", "column of the private label, in the original")
	f.StringVar(&o.ID, "id", "", "column with the id of the document, in all files (default: the order of rows)")
	f.StringVar(&repetition, "repetition", "", "column of the repetition, in privatised files")
	f.StringVar(&o.Name, "name", "", "name of the data set (default: that of the file)")
	f.StringVar(&cleaning, "cleaning", string(datasets.CleanWords),
		"cleaning of the text: sentiment, topic, content, words or none")
	f.IntVar(&o.Documents, "documents", 50, "documents compared for CS; -1 none")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the split and of training")
	f.StringVar(&o.Root, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.StringVarP(&out, "out", "o", "evaluation", "folder for table, figures and report")
	require(cmd, "original", "privatised", "text", "label")
	return cmd
}

// evaluationTable returns the table for printing and the page; "-" means not
// measured.
func evaluationTable(rows []evaluate.Row) results.Table {
	t := results.Table{
		Name: "evaluation", Title: "Privatised versions",
		Header: []string{"version", "epsilon", "rep", "aligned", "accuracy", "attacker", "chance", "PP", "CS", "LOW",
			"English %", "perplexity", "overlap", "linked", "chance"},
		Legend: "mldp evaluate --help explains each number.",
	}
	for _, r := range rows {
		texts := []string{r.Name, number(r.Epsilon, -1), strconv.Itoa(r.Repetition), "no"}
		if r.Aligned {
			texts[3] = "yes"
		}
		for _, x := range []results.Float{r.Accuracy, r.PrivateAccuracy, r.PrivateChance, r.PP, r.CS, r.Low, r.English} {
			texts = append(texts, number(x, 2))
		}
		texts = append(texts, number(r.Perplexity, 1))
		for _, x := range []results.Float{r.Overlap, r.Linked, r.LinkedGuess} {
			texts = append(texts, number(x, 2))
		}
		t.AddRow(texts...)
	}
	return t
}

func number(x results.Float, digits int) string {
	if !x.Known() {
		return "-"
	}
	return strconv.FormatFloat(float64(x), 'f', digits, 64)
}

// writeEvaluation writes records, table, figures and report, and prints where.
func writeEvaluation(cmd *cobra.Command, dir string, r *evaluate.Result, t results.Table, started time.Time) error {
	for i := range r.Records {
		r.Records[i].Version = mldpVersion()
	}
	file := filepath.Join(dir, "results.csv")
	if err := results.Write(file, r.Records); err != nil {
		return err
	}
	table := filepath.Join(dir, "evaluate.csv")
	if err := atomicfile.Write(table, 0o644, func(w io.Writer) error { return gocsv.Marshal(r.Rows, w) }); err != nil {
		return err
	}
	l := loaded{dir: dir, Input: report.Input{Records: r.Records, Examples: r.Examples, Runs: []report.Run{{
		Command: os.Args, Version: mldpVersion(), Started: started.UTC().Format("2 January 2006, 15:04 UTC"),
	}}, Other: []results.Table{t}}}
	paths, err := l.tables(filepath.Join(dir, "tables"), false)
	if err != nil {
		return err
	}
	figures, skipped := plots.All(r.Records)
	if len(figures) == 0 { // versions without an epsilon cannot be placed on its axis
		for _, s := range skipped {
			fmt.Fprintf(cmd.ErrOrStderr(), "figure %s: not drawn: %s\n", s.Name, s.Reason)
		}
	}
	drawn, err := plots.Save(filepath.Join(dir, "figures"), figures, figureFormats)
	if err != nil {
		return err
	}
	page := filepath.Join(dir, "report.html")
	if err := l.write(page); err != nil {
		return err
	}
	for _, p := range append(append([]string{file, table}, append(paths, drawn...)...), page) {
		fmt.Fprintln(cmd.OutOrStdout(), p)
	}
	return nil
}
