package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/experiments"
	"mldpbench/experiments/engine"
	"mldpbench/internal/check"
	"mldpbench/results"
	"mldpbench/results/tables"
)

func newEvaluateCommand() *cobra.Command {
	var o experiments.EvaluateOptions
	var versions []string
	var out, cleaning string
	var force, examples bool
	var items itemOptions
	cmd := command("evaluate", "evaluate", cobra.NoArgs)
	f := cmd.Flags()
	f.StringVar(&o.Task, "task", "", "measure versions of the documents of a task, as NAME@VERSION or NAME@VERSION/lite; "+
		"mldp task texts prints them")
	f.StringVar(&o.Original, "original", "", "the table before privatising")
	f.StringArrayVar(&versions, "privatised", nil, "a version, as FILE, NAME=FILE or NAME@EPSILON=FILE; FILE may be "+
		"column:COLUMN of the original; may be given more than once")
	f.StringSliceVar(&o.Text, "text", nil, "columns of the text, in all files")
	f.StringVar(&o.Label, "label", "", "column to predict, in the original (without one accuracy is not measured)")
	delimiterFlag(f, &o.Delimiter)
	f.StringVar(&o.Private, "private", "", "column of the private label, in the original")
	f.StringVar(&o.ID, "id", "", "column with the id of the document, in all files (default: the order of rows)")
	f.StringVar(&o.Missing, "missing", "fail", "documents without a text in some version: fail, or skip, which leaves "+
		"them out of all versions and says how many")
	f.StringVar(&o.Name, "name", "", "name of the data set (default: that of the file)")
	f.StringVar(&cleaning, "cleaning", string(datasets.CleanWords),
		"cleaning of the text: sentiment, topic, content, words or none")
	f.IntVar(&o.Documents, "documents", 50, "documents compared for CS; -1 none")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the split and of training")
	dataFlag(f, &o.Root)
	outFlag(f, &out, "evaluation", "folder of rows, table and page")
	items.addFlags(f)
	f.BoolVar(&force, "force", false, "replace the results of an earlier evaluation")
	examplesFlag(f, &examples)
	require(cmd, "privatised")
	cmd.MarkFlagsOneRequired("original", "task")
	for _, name := range []string{"original", "label", "private", "name", "cleaning", "documents"} {
		cmd.MarkFlagsMutuallyExclusive("task", name) // the task says it
	}
	return prints(cmd, func(cmd *cobra.Command, _ []string, a *answer) error {
		for _, s := range versions {
			v, err := experiments.ParseVersion(s)
			if err != nil {
				return usage(err)
			}
			o.Versions = append(o.Versions, v)
		}
		o.Cleaning = datasets.Cleaning(cleaning)
		switch {
		case len(o.Text) == 0 && o.Task == "":
			return check.Wrong("--text is needed: the columns of the text")
		case len(o.Text) == 0:
			o.Text = []string{"text"}
		}
		rows := filepath.Join(out, "results.csv")
		if _, err := os.Stat(rows); err == nil && !force {
			return check.Wrong("%s has results already: choose another --out, or say --force", out)
		}
		summary, lines, notes, err := experiments.Evaluate(cmd.Context(), o, engine.Options{Out: out,
			Log: cmd.ErrOrStderr(), Version: mldpVersion(), Command: os.Args})
		for _, n := range notes {
			fmt.Fprintln(cmd.ErrOrStderr(), n)
		}
		if err != nil {
			return err
		}
		t := evaluationTable(lines)
		files, err := t.Save(out, tables.Formats)
		if err != nil {
			return err
		}
		if err := errors.Join(a.brief(t), items.write(cmd.Context(), summary, o.Root)); err != nil {
			return err
		}
		a.Files = append(append(a.Files, rows), files...)
		a.add("versions", lines)
		return writeOutputs(a, cmd.ErrOrStderr(), summary, nil, examples, results.Levels{})
	})
}

// evaluationTable returns the table for printing and for a paper; - means not
// measured.
func evaluationTable(lines []experiments.Evaluated) tables.Table {
	t := tables.Table{
		Name: "evaluation", Title: "Privatised versions",
		Header: []string{"version", "epsilon", "rep", "aligned", "accuracy", "attacker", "chance", "PP", "CS", "LOW",
			"English %", "perplexity", "overlap", "linked", "chance"},
		Legend: "mldp evaluate --help explains each number; results.csv has their intervals.",
	}
	for _, x := range lines {
		texts := []string{x.Name, number(x.Epsilon, -1), strconv.Itoa(x.Repetition), "no"}
		if x.Aligned {
			texts[3] = "yes"
		}
		for _, v := range []results.Float{x.Accuracy, x.PrivateAccuracy, x.PrivateChance, x.PP, x.CS, x.Low, x.English} {
			texts = append(texts, number(v, 2))
		}
		texts = append(texts, number(x.Perplexity, 1))
		for _, v := range []results.Float{x.Overlap, x.Linked, x.LinkedGuess} {
			texts = append(texts, number(v, 2))
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
