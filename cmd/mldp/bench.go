package main

import (
	"fmt"
	"io"

	"github.com/gocarina/gocsv"
	"github.com/spf13/cobra"

	"mldpbench/experiments/study"
	"mldpbench/experiments/throughput"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/kernel"
	"mldpbench/results"
)

func init() { commands = append(commands, newBenchCommand) }

func newBenchCommand() *cobra.Command {
	o := throughput.Options{}
	var command commandOptions
	var table string
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure words per second of mechanisms, from text to text",
		Long: `Bench privatises documents and prints, per mechanism, space, vocabulary and
epsilon, the words per second of the median repetition, the share of the
machine's multiply-add peak that an exhaustive float32 search would need at that
speed, the memory of the index and the peak memory of the process. Only words of
the space are counted. For a command, the time of communication is included.

The search uses the fastest instructions of the processor; MLDP_SIMD=avx512
(no 8-bit filter), avx2 or go measures the others, on arm64 neon (no 8-bit
filter) or go. Results do not depend on it.`,
		Example: `  mldp bench
  mldp bench --embedding glove.6B --dimension 100 --vocabulary 27000 --dataset imdb --mechanism cmp,vickrey,mahalanobis --epsilon 1,10
  mldp bench --workers 1,2 --count 1000 --csv bench.csv
  mldp bench --mechanism cmp --command "mldp serve --mechanism cmp --embedding generated" --epsilon 10 --count 1000`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if command.line != "" {
				var err error
				if o.Command, err = command.open(cmd.Context()); err != nil {
					return err
				}
				defer o.Command.Close()
			}
			out := cmd.OutOrStdout()
			var rows []throughput.Row
			err := throughput.Run(cmd.Context(), o, func(r throughput.Row) error {
				if len(rows) == 0 {
					printBenchHeader(out, r)
				}
				rows = append(rows, r)
				printBenchRow(out, r)
				return nil
			})
			if table != "" && len(rows) > 0 {
				// Results before an error or an interrupt are kept.
				if e := atomicfile.Write(table, 0o644, func(w io.Writer) error {
					return gocsv.Marshal(rows, w)
				}); err == nil {
					err = e
				}
			}
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Dataset, "dataset", "generated-reviews", "data set whose documents are privatised")
	f.StringSliceVar(&o.Embeddings, "embedding", []string{study.GeneratedEmbedding},
		"vector files, names in the data folder, or generated")
	f.IntSliceVar(&o.Dimensions, "dimension", []int{0}, "dimensions, where --embedding does not determine them")
	f.IntSliceVar(&o.Vocabularies, "vocabulary", []int{0}, "sizes: the first words of the embedding; 0 is all")
	f.StringSliceVar(&o.Mechanisms, "mechanism", []string{"cmp", "mahalanobis", "vickrey"}, "mechanisms")
	f.Float64SliceVar(&o.Epsilons, "epsilon", []float64{1, 5, 10}, "privacy parameters")
	f.IntSliceVar(&o.Workers, "workers", []int{1}, "cores to use")
	f.IntVar(&o.Words, "count", 20_000, "words per repetition")
	f.IntVar(&o.Repeat, "repeat", 3, "repetitions")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of noise")
	f.StringVar(&o.Root, "data", "", "data folder (default: MLDP_DATA, else the cache folder)")
	command.addFlags(cmd)
	f.StringVar(&table, "csv", "", "write all columns to this file")
	return cmd
}

func printBenchHeader(w io.Writer, r throughput.Row) {
	fmt.Fprintf(w, "%s, %d cores, %s; peak of one core %.0f GFLOP/s\n", r.System, r.Cores, kernel.Path(), r.PeakGFLOPS)
	fmt.Fprintf(w, "%-14s %-20s %9s %6s %7s %7s %9s %8s %6s %6s %9s\n",
		"mechanism", "space", "words", "dim", "epsilon", "workers", "words/s", "µs/word", "peak×", "index×", "peak MiB")
}

func printBenchRow(w io.Writer, r throughput.Row) {
	fmt.Fprintf(w, "%-14s %-20s %9d %6d %7g %7d ", r.Mechanism, r.Embedding, r.Vocabulary, r.Dimension, r.Epsilon,
		r.Workers)
	if r.Status != results.StatusOK {
		fmt.Fprintf(w, "%s\n", r.Reason)
		return
	}
	fmt.Fprintf(w, "%9.0f %8.2f %6.2f %6.2f %9.0f\n", r.WordsPerSecond, 1e6/r.WordsPerSecond, r.PeakShare, r.IndexRatio,
		r.PeakMemoryMiB)
}
