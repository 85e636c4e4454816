package main

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"mldpbench/datasets/textio"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

func init() { commands = append(commands, newDeniabilityCommand) }

func newDeniabilityCommand() *cobra.Command {
	var o instanceOptions
	var command commandOptions
	var file string
	var runs int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "deniability",
		Short: "Print N_w and S_w of given words",
		Long: `Deniability privatises each word many times and prints, as CSV, how often the
word itself was returned (n_w, in percent) and how many distinct words were
returned (s_w; s_w_others does not count the word itself). n_w_exact is the
closed form where there is one. The last row is the mean over words. Words
outside the embedding are listed on standard error and left out.`,
		Example: `  mldp deniability --mechanism cmp --epsilon 10 --words words.txt --runs 100 --embedding generated
  mldp deniability --mechanism tem --epsilon 5 --words words.txt --embedding glove.6B --dimension 100 --restrict agnews`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := check.AtLeast("runs", runs, 1); err != nil {
				return &exitError{exitUsage, err}
			}
			words, err := wordsOf(file)
			if err != nil {
				return err
			}
			root := stream.FromUint64(seed)
			m, end, err := command.orBuiltIn(cmd.Context(), &o, root)
			if err != nil {
				return err
			}
			defer end()
			var ids []embeddings.WordID
			for _, w := range words {
				if id := findWord(m.Vocabulary(), w); id != embeddings.Unknown {
					ids = append(ids, id)
				} else {
					fmt.Fprintf(cmd.ErrOrStderr(), "%q is not in the vocabulary\n", w)
				}
			}
			if len(ids) == 0 {
				return fmt.Errorf("%s: no word of the vocabulary in it", file)
			}
			rng := root.Derive("deniability").Rand()
			all, err := metrics.MeasureDeniability(ids, runs,
				func(dst, src []embeddings.WordID) { m.Privatize(dst, src, nil, rng) })
			if err == nil {
				err = mechanisms.Err(m)
			}
			if err != nil {
				return err
			}
			return writeDeniability(cmd, m, all)
		},
	}
	o.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&file, "words", "", wordsHelp)
	f.IntVar(&runs, "runs", 100, "runs per word")
	f.Uint64Var(&seed, "seed", 0, "seed of the runs")
	command.addFlags(cmd)
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	cmd.MarkFlagsOneRequired("mechanism", "command")
	require(cmd, "epsilon", "words")
	return cmd
}

func readWords(file string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := textio.Plain(f, file)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(r)
	s.Split(bufio.ScanWords)
	var words []string
	for s.Scan() {
		words = append(words, s.Text())
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return words, nil
}

func writeDeniability(cmd *cobra.Command, m mechanisms.Mechanism, all []metrics.Deniability[embeddings.WordID]) error {
	w := csv.NewWriter(cmd.OutOrStdout())
	// errors stay until Flush
	_ = w.Write([]string{"word", "runs", "unchanged", "n_w", "n_w_exact", "s_w", "s_w_others"})
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }
	var nw, exactNw, sw, others float64
	runs, unchanged := 0, 0
	distributor, exact := m.(mechanisms.Distributor)
	for _, d := range all {
		row := []string{m.Vocabulary().Word(d.Word), strconv.Itoa(d.Runs), strconv.Itoa(d.Unchanged), number(d.Nw()),
			"", strconv.Itoa(d.Distinct), strconv.Itoa(d.Others())}
		if exact {
			p, err := distributor.Distribution(d.Word)
			if err != nil {
				return err
			}
			row[4] = number(100 * p.Probabilities[d.Word])
			exactNw += p.Probabilities[d.Word]
		}
		_ = w.Write(row)
		nw, sw, others = nw+d.Nw(), sw+float64(d.Distinct), others+float64(d.Others())
		runs, unchanged = runs+d.Runs, unchanged+d.Unchanged
	}
	n := float64(len(all))
	row := []string{"(mean)", strconv.Itoa(runs), strconv.Itoa(unchanged), number(nw / n), "", number(sw / n),
		number(others / n)}
	if exact {
		row[4] = number(100 * exactNw / n)
	}
	_ = w.Write(row)
	w.Flush()
	return w.Error()
}
