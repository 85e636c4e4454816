package main

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"mldpbench/experiments/measure"
	"mldpbench/experiments/papers"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/results"
)

// isPaper reports whether records are those of a paper study: one quantity per
// row.
func isPaper(records []results.Record) bool { return len(records) > 0 && records[0].Quantity != "" }

// summarize writes the means and intervals of a paper study next to its
// records.
func summarize(records []results.Record, dir string) (string, error) {
	path := filepath.Join(dir, "summary.csv")
	return path, atomicfile.Write(path, 0o644, func(w io.Writer) error {
		return results.WriteRows(w, papers.Summarize(records))
	})
}

// embeddingFlag is an embedding named on the command line.
func embeddingFlag(ref string, dimension int) study.EmbeddingSpec {
	e := study.EmbeddingSpec{Name: ref}
	if study.IsVectorFile(ref) {
		e.Name, e.File = "", ref
	} else if i, d := study.DimensionSuffix(ref); i > 0 && (dimension == 0 || dimension == d) {
		e.Name, dimension = ref[:i], d // glove.6B.100d is glove.6B at 100
	}
	if dimension == 0 && ref == study.GeneratedEmbedding {
		dimension = 50
	}
	if dimension != 0 {
		e.Dimensions = []int{dimension}
	}
	return e
}

func init() { commands = append(commands, newTuneCommand, newCalibrateCommand) }

func newTuneCommand() *cobra.Command {
	var o papers.TuneRequest
	var embedding string
	var dimension int
	cmd := &cobra.Command{
		Use:   "tune --max-loss C",
		Short: "Choose ε and t of the Vickrey mechanism under a loss budget",
		Long: `Tune is Algorithm 2 of Xu et al. 2021b: among the thresholds t, and ε up to
--max-epsilon, it chooses the pair with the highest inference error of the MAP
adversary whose utility loss stays within the budget. The loss is the share of
words of a word-level data set whose polarity flips. It prints the search as
CSV, each step as soon as it is measured. The answer is the last row, which
repeats the chosen step with choice = true.

Exit codes: 0 found, 1 no pair keeps the loss within the budget, 2 wrong usage.`,
		Example: `  mldp tune --max-loss 0.2 --dataset generated-words --embedding generated --dimension 50 --runs 6
  mldp tune --max-loss 0.06 --dataset product-reviews --embedding glove.6B.100d`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Embedding = embeddingFlag(embedding, dimension)
			o.Each = results.RowWriter[measure.TuneStep](cmd.OutOrStdout())
			trace, err := papers.Tune(cmd.Context(), o)
			if err != nil {
				return err
			}
			return o.Each(trace[slices.IndexFunc(trace, func(s measure.TuneStep) bool { return s.Choice })])
		},
	}
	f := cmd.Flags()
	f.Float64Var(&o.MaxLoss, "max-loss", 0, "loss budget C, a share in (0, 1)")
	f.StringVar(&o.Dataset.Name, "dataset", "product-reviews", "word-level data set")
	f.StringVar(&embedding, "embedding", "glove.6B.100d", "embedding of the data folder, vector file, or generated")
	f.IntVar(&dimension, "dimension", 0, "dimension of a named embedding")
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
	var targets []string
	var embedding, format string
	var dimension int
	cmd := &cobra.Command{
		Use:   "calibrate --target nw=0.5",
		Short: "Find the ε of each mechanism that gives a chosen N_w, S_w or inference error",
		Long: `Calibrate makes mechanisms comparable at equal measured privacy instead of equal
ε, whose meaning differs between mechanisms. The target is nw (share of runs
that return the word, 0 to 1), sw (mean number of distinct outputs in --runs) or
em (error of the MAP adversary, 0 to 1). It prints one CSV row per mechanism and
target as soon as it is found; a target out of reach has the reason in its row.

nw and sw are valid for the words drawn: more words (--count) bring them closer
to those of the whole vocabulary than more --runs do. em is E_M of the full
vocabulary, all words being candidates and equally likely, as in the tables of
studies: exact where the distribution is known, else that of an adversary who
learned from --runs outputs of every word, measured on as many others, with its
95% interval. The search ends within --tolerance of the target. Several targets
cost little more than one.

--format yaml prints the entries of a study's list of mechanisms.`,
		Example: `  mldp calibrate --target nw=0.5 --embedding generated --dimension 50 --count 20
  mldp calibrate --target em=0.2,0.5,0.8 --mechanisms cmp,k-rr --embedding generated --dimension 50 --vocabulary 300
  mldp calibrate --target em=0.5 --restrict agnews --vocabulary 0 --embedding glove.6B.100d --format yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Targets, err = measure.ParseTargets(targets); err != nil {
				return &exitError{exitUsage, err}
			}
			for _, err := range []error{
				check.OneOf("format", format, "csv", "yaml"), check.Within("tolerance", o.Tolerance, 0, 1),
			} {
				if err != nil {
					return &exitError{exitUsage, err}
				}
			}
			o.Embedding = embeddingFlag(embedding, dimension)
			if format == "csv" {
				return papers.Calibrate(cmd.Context(), o,
					results.RowWriter[papers.CalibratedMechanism](cmd.OutOrStdout()))
			}
			fragment := papers.StudyFragment{To: cmd.OutOrStdout()}
			if err := papers.Calibrate(cmd.Context(), o, fragment.Take); err != nil {
				return err
			}
			return fragment.Flush()
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&targets, "target", nil, "nw=SHARE, sw=NUMBER or em=SHARE; several with commas")
	f.StringSliceVar(&o.Mechanisms, "mechanisms", nil, "mechanisms to calibrate (default: all that return words)")
	f.StringVar(&embedding, "embedding", "glove.6B.100d", "embedding of the data folder, vector file, or generated")
	f.IntVar(&dimension, "dimension", 0, "dimension of a named embedding")
	f.StringVar(&o.Data, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	f.StringVar(&o.Restrict, "restrict", "", "keep only words of this data set, the corpus of mechanisms that need one")
	f.IntVar(&o.Vocabulary, "vocabulary", 10_000,
		"keep only this many first words of the embedding, the possible outputs; 0 keeps all")
	f.IntVar(&o.Words, "count", 100, "words drawn from the vocabulary, for nw and sw")
	f.IntVar(&o.Runs, "runs", 20, "runs per word, where there is no closed form")
	f.Float64Var(&o.Tolerance, "tolerance", 0.01, "how far from a target an em may be that ends its search")
	f.StringVar(&format, "format", "csv", "csv, or yaml for a study")
	f.Uint64Var(&o.Seed, "seed", 2020, "seed")
	require(cmd, "target")
	return cmd
}
