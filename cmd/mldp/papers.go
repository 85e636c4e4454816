package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mldpbench/datasets/fetch"
	"mldpbench/experiments/papers"
	"mldpbench/internal/progress"
	"mldpbench/plots"
	"mldpbench/results"
)

// openPaper reads a study of one of the source papers; nil if ref names some
// other study.
func openPaper(ref string) (papers.Study, error) {
	if ext := filepath.Ext(ref); ext == ".yaml" || ext == ".yml" {
		data, err := os.ReadFile(ref)
		if err != nil || !slices.Contains(papers.Protocols(), papers.ProtocolOf(data)) {
			return nil, nil // for the reader of grids to explain
		}
		return papers.Parse(ref, data)
	}
	if !slices.Contains(papers.Builtin.Names(), ref) {
		return nil, nil
	}
	data, err := papers.Builtin.Source(ref)
	if err != nil {
		return nil, err
	}
	return papers.Parse(ref+".yaml", data)
}

// paperFlags are the flags of run that a paper study takes.
var paperFlags = []string{"data", "out", "panel", "workers", "fetch", "yes"}

// runPaper runs a paper study and draws its figures.
func runPaper(cmd *cobra.Command, s papers.Study, o *runOptions) error {
	ctx, stdout, stderr := cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	var refused error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(paperFlags, f.Name) && refused == nil {
			refused = &exitError{exitUsage, fmt.Errorf("--%s does not apply to a paper study: print it with mldp study show, edit it and run the file", f.Name)}
		}
	})
	if refused != nil {
		return refused
	}
	name := papers.Name(s)
	out, figures := o.out, filepath.Join(o.out, "plots")
	if out == "" {
		out, figures = filepath.Join("results", name), filepath.Join("plots", name)
	}
	workers := o.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var bar *progress.Reporter
	var outcome *papers.Outcome
	err := o.fetching.providing(ctx, o.data, cmd.InOrStdin(), stderr, func() (err error) {
		outcome, err = papers.Run(ctx, s, papers.Options{
			Data: o.data, Out: out, Workers: workers, Panels: o.panels,
			Started: func(pending, done int) {
				if done > 0 {
					fmt.Fprintf(stderr, "%d of %d units were finished before\n", done, done+pending)
				}
				bar = progress.New(stderr, "units", pending)
			},
			Finished: func(unit string, err error) { bar.Add(1, unit) },
		})
		return err
	})
	if errors.Is(err, context.Canceled) {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: what is finished is kept; the same command goes on with the rest")}
	}
	var missing *fetch.MissingError
	if errors.As(err, &missing) && slices.Contains(papers.Builtin.Names(), name) {
		return fmt.Errorf("%w (all that the study needs: mldp data fetch %s)", err, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s\n%s\n", outcome.Path, outcome.SummaryPath)
	return drawPoints(outcome.Points, figures, stdout, stderr)
}

// drawPoints draws the figures of paper studies.
func drawPoints(points []results.Point, dir string, stdout, stderr io.Writer) error {
	drawn, skipped := plots.Papers(points)
	for _, s := range skipped {
		fmt.Fprintf(stderr, "not drawn: %s: %s\n", s.Name, s.Reason)
	}
	paths, err := plots.Save(dir, drawn, plots.Formats)
	if err != nil {
		return err
	}
	for _, p := range paths {
		fmt.Fprintln(stdout, p)
	}
	return nil
}

func init() { commands = append(commands, newTuneCommand, newCalibrateCommand) }

func newTuneCommand() *cobra.Command {
	o := papers.TuneOptions{}
	cmd := &cobra.Command{
		Use:   "tune --max-loss C",
		Short: "Pick ε and t of the Vickrey mechanism under a loss budget",
		Long: `Tune is Algorithm 2 of Xu et al. 2021b: among the thresholds t, and ε up to
--max-epsilon, it picks the pair with the highest inference error of the MAP
adversary whose utility loss stays within the budget. The loss is the share of
words of a word-level data set whose polarity flips. It prints the trace of the
search as CSV; the row with choice = true is the answer.

Exit codes: 0 found, 1 no pair keeps the loss within the budget, 2 wrong usage.`,
		Example: `  mldp tune --max-loss 0.2 --dataset generated-words --embedding generated --dimension 50
  mldp tune --max-loss 0.06 --dataset product-reviews --embedding glove.6B --dimension 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			trace, err := papers.Tune(cmd.Context(), o)
			if len(trace) > 0 {
				if werr := results.WriteRows(cmd.OutOrStdout(), trace); werr != nil {
					return werr
				}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.Float64Var(&o.MaxLoss, "max-loss", 0, "loss budget C, a share in (0, 1)")
	f.StringVar(&o.Dataset.Name, "dataset", "product-reviews", "word-level data set")
	f.StringVar(&o.Embedding.Name, "embedding", "glove.6B", "embedding of the data folder, vector file, or generated")
	f.IntVar(&o.Embedding.Dimension, "dimension", 0, "dimension of a named embedding")
	f.StringVar(&o.Data, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.Float64SliceVar(&o.T, "t", []float64{0, 0.25, 0.5, 0.75, 1}, "thresholds to choose among")
	f.Float64Var(&o.MaxEpsilon, "max-epsilon", 100, "largest ε considered")
	f.IntVar(&o.Runs, "runs", 20, "runs per word, even")
	f.StringVar(&o.Prior, "prior", "uniform", "of the adversary: uniform or empirical")
	f.Uint64Var(&o.Seed, "seed", 2021, "seed")
	require(cmd, "max-loss")
	return cmd
}

func newCalibrateCommand() *cobra.Command {
	var o papers.CalibrateRequest
	var target string
	cmd := &cobra.Command{
		Use:   "calibrate --target nw=0.5",
		Short: "Find the ε of each mechanism that gives a chosen N_w, S_w or inference error",
		Long: `Calibrate makes mechanisms comparable at equal measured privacy instead of equal
ε, which means something else for each. The target is nw (share of runs that
return the word, 0 to 1), sw (mean number of distinct outputs in --runs) or em
(error of the MAP adversary among the sampled words, 0 to 1). It prints one CSV
row per mechanism; one that cannot reach the target has the reason in its row.`,
		Example: `  mldp calibrate --target nw=0.5 --embedding generated --dimension 50
  mldp calibrate --target em=0.2 --mechanisms cmp,vickrey --embedding glove.6B --dimension 100`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Target, err = papers.ParseTarget(target); err != nil {
				return &exitError{exitUsage, err}
			}
			rows, err := papers.CalibrateAll(cmd.Context(), o)
			if err != nil {
				return err
			}
			return results.WriteRows(cmd.OutOrStdout(), rows)
		},
	}
	f := cmd.Flags()
	f.StringVar(&target, "target", "", "nw=SHARE, sw=NUMBER or em=SHARE")
	f.StringSliceVar(&o.Mechanisms, "mechanisms", nil, "mechanisms to calibrate (default: all that return words)")
	f.StringVar(&o.Embedding.Name, "embedding", "glove.6B", "embedding of the data folder, vector file, or generated")
	f.IntVar(&o.Embedding.Dimension, "dimension", 0, "dimension of a named embedding")
	f.StringVar(&o.Data, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.IntVar(&o.Words, "count", 100, "words drawn from the vocabulary")
	f.IntVar(&o.Runs, "runs", 100, "runs per word")
	f.Uint64Var(&o.Seed, "seed", 2020, "seed")
	require(cmd, "target")
	return cmd
}
