package main

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"mldpbench/datasets/textio"
	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// explainOptions are the flags of mldp explain.
type explainOptions struct {
	instance           instanceOptions
	command            commandOptions
	words, format      string
	top, samples, runs int
	seed               uint64
}

func newExplainCommand() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show what a mechanism does to given words, to choose an epsilon",
		Long: `Explain prints, for each word, its likeliest outputs with their probability and
the odds ("1 in 4"), and what an observer of the output may learn: for each pair
of the words, the largest factor by which the odds of one against the other may
change. A factor of 1 reveals nothing; 20 is close to certainty for many uses.
Words are looked up as in privatize: as spelled, or else in lower case.

With --runs each word is privatised so many times: n_w is how often the word
itself came back (in percent, n_w_exact the closed form where there is one), s_w
the number of distinct outputs (s_w_others without the word itself).

Without a mechanism it prints the nearest words of each word and their Euclidean
distances, which show the scale of epsilon in that space. The search is exact.

--format csv prints numbers for programs. Probabilities are exact where there is
a closed form; otherwise they are integrated numerically or sampled, and standard
error says which, with the largest error. The empty word stands for a deleted
word.`,
		Example: `  mldp explain --mechanism cmp --epsilon 10 --embedding vectors.txt --words "superb awful London"
  mldp explain --mechanism tem --epsilon 5 --embedding vectors.txt --words superb --top 20 --format csv
  mldp explain --mechanism cmp --epsilon 10 --embedding vectors.txt --words words.txt --runs 100
  mldp explain --embedding vectors.txt --words superb --top 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.instance.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.words, "words", "", wordsHelp)
	f.IntVar(&o.top, "top", 5, "outputs, or nearest words, to print per word")
	f.IntVar(&o.samples, "samples", 20_000, "samples, used where there is no exact method")
	f.IntVar(&o.runs, "runs", 0, "measure N_w and S_w in this many runs per word")
	f.Uint64Var(&o.seed, "seed", 0, "seed of samples and runs")
	f.StringVar(&o.format, "format", "text", "text or csv")
	cmd.MarkFlagsMutuallyExclusive("mechanism", "command")
	require(cmd, "words")
	return cmd
}

func (o *explainOptions) run(cmd *cobra.Command) error {
	if err := cmp.Or(check.AtLeast("top", o.top, 1), check.AtLeast("samples", o.samples, 1),
		check.OneOf("format", o.format, "text", "csv")); err != nil {
		return &exitError{exitUsage, err}
	}
	words, err := wordsOf(o.words)
	if err != nil {
		return err
	}
	if o.instance.mechanism == "" && o.command.line == "" {
		return o.nearest(cmd, words)
	}
	if !cmd.Flags().Changed("epsilon") {
		return &exitError{exitUsage, errors.New(`required flag "epsilon" not set`)}
	}
	root := stream.FromUint64(o.seed)
	m, end, err := o.command.orBuiltIn(cmd.Context(), &o.instance, root)
	if err != nil {
		return err
	}
	known, err := findWords(cmd, m.Vocabulary(), words, o.words)
	if err == nil {
		switch {
		case o.runs > 0:
			err = o.deniability(cmd, m, known, root)
		case o.format == "csv":
			err = o.outputs(cmd, m, known, root)
		default:
			err = o.explain(cmd, m, known, root)
		}
	}
	return errors.Join(err, mechanisms.Err(m), end())
}

// wordsHelp describes --words.
const wordsHelp = "a file of words separated by white space, or the words themselves"

// wordsOf reads a list of words, from a file of that name if there is one.
func wordsOf(list string) ([]string, error) {
	info, err := os.Stat(list)
	if err != nil || info.IsDir() {
		if words := strings.Fields(list); len(words) > 0 {
			return words, nil
		}
		return nil, &exitError{exitUsage, fmt.Errorf("words = %q: must be a file or words", list)}
	}
	f, err := os.Open(list)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := textio.Plain(f, list)
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
		return nil, fmt.Errorf("%s: %w", list, err)
	}
	return words, nil
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
			hint := ""
			if s := v.Suggest(w); s != "" {
				hint = fmt.Sprintf("; did you mean %q?", s)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "%q is not in the vocabulary%s\n", w, hint)
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("%s: no word of the vocabulary in it", from)
	}
	return ids, nil
}

// nearest prints the nearest words of each word.
func (o *explainOptions) nearest(cmd *cobra.Command, words []string) error {
	env, err := o.instance.space.environment(cmd.Context(), false, stream.Seed{})
	if err != nil {
		return err
	}
	space := env.Space
	ids, err := findWords(cmd, space.Vocabulary, words, o.words)
	if err != nil {
		return err
	}
	var queries []float32
	for _, id := range ids {
		queries = append(queries, space.Vector(id)...)
	}
	found := make([]nearest.Neighbor, o.top*len(ids))
	nearest.Of(space).SearchExcluding(found, queries, o.top, ids)
	rows := [][]string{{"word", "rank", "neighbour", "distance"}}
	for i, n := range found {
		if n.ID != embeddings.Unknown { // else there are fewer other words
			rows = append(rows, []string{space.Vocabulary.Word(ids[i/o.top]), strconv.Itoa(i%o.top + 1),
				space.Vocabulary.Word(n.ID), strconv.FormatFloat(n.Distance, 'f', 4, 64)})
		}
	}
	return o.write(cmd.OutOrStdout(), rows)
}

// write prints rows, the first being the header, in the chosen format.
func (o *explainOptions) write(w io.Writer, rows [][]string) error {
	if o.format == "csv" {
		c := csv.NewWriter(w)
		return cmp.Or(c.WriteAll(rows), c.Error())
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, row := range rows {
		line := strings.Join(row, "\t")
		if i == 0 {
			line = strings.ToUpper(line)
		}
		fmt.Fprintln(t, line)
	}
	return t.Flush()
}

func distributionOf(m mechanisms.Mechanism, id embeddings.WordID, samples int,
	seed stream.Seed) (mechanisms.Distribution, error) {
	if d, ok := m.(mechanisms.Distributor); ok {
		return d.Distribution(id)
	}
	return mechanisms.MonteCarlo(m, id, samples, seed.Derive("samples"))
}

// outputs prints the likeliest outputs of words as CSV, and says how their
// probabilities are known.
func (o *explainOptions) outputs(cmd *cobra.Command, m mechanisms.Mechanism, words []embeddings.WordID,
	seed stream.Seed) error {
	rows := [][]string{{"word", "rank", "output", "probability"}}
	how := "closed form"
	for _, id := range words {
		d, err := distributionOf(m, id, o.samples, seed.At(uint64(id)))
		if err != nil {
			return err
		}
		switch {
		case d.Samples > 0:
			how = fmt.Sprintf("%d samples, error of every probability at most %.2g (95%%)", d.Samples, d.AbsoluteError)
		case d.AbsoluteError > 0:
			how = fmt.Sprintf("numerical integration, error of every probability at most %.2g", d.AbsoluteError)
		}
		for rank, y := range likeliest(d.Probabilities, o.top) {
			rows = append(rows, []string{m.Vocabulary().Word(id), strconv.Itoa(rank + 1), m.Vocabulary().Word(y),
				strconv.FormatFloat(d.Probabilities[y], 'g', 8, 64)})
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", instanceName(m.Settings()), how)
	return o.write(cmd.OutOrStdout(), rows)
}

// explain prints the likeliest outputs of words, and what the guarantee means
// between them.
func (o *explainOptions) explain(cmd *cobra.Command, m mechanisms.Mechanism, words []embeddings.WordID,
	seed stream.Seed) error {
	v, out := m.Vocabulary(), cmd.OutOrStdout()
	rows := [][]string{{"word", "becomes", "probability", "odds"}}
	for _, id := range words {
		d, err := distributionOf(m, id, o.samples, seed.At(uint64(id)))
		if err != nil {
			return err
		}
		add := func(word, becomes string, p float64) {
			rows = append(rows, []string{word, becomes, fmt.Sprintf("%.4f", p), fmt.Sprintf("1 in %.3g", 1/p)})
		}
		shown := likeliest(d.Probabilities, o.top)
		for i, y := range shown {
			name := ""
			if i == 0 {
				name = v.Word(id)
			}
			add(name, v.Word(y), d.Probabilities[y])
		}
		others, mass := 0, 0.0
		for y, p := range d.Probabilities {
			if p > 0 && !slices.Contains(shown, embeddings.WordID(y)) {
				others, mass = others+1, mass+p
			}
		}
		if others > 0 {
			add("", fmt.Sprintf("(%d others)", others), mass)
		}
	}
	if err := o.write(out, rows); err != nil {
		return err
	}
	g := m.Guarantee()
	fmt.Fprintf(out, "\n%s; guarantee per word: %s\n", instanceName(m.Settings()), g)
	if !g.Holds() || g.Distance == nil || len(words) < 2 {
		return nil
	}
	rows = [][]string{{"between", fmt.Sprintf("distance (%s)", g.Metric), "odds change by at most a factor of"}}
	for i, a := range words {
		for _, b := range words[i+1:] {
			d := g.Distance(a, b)
			rows = append(rows, []string{v.Word(a) + " / " + v.Word(b), fmt.Sprintf("%.3g", d),
				privatize.Factor(g.Epsilon * d)})
		}
	}
	fmt.Fprintln(out)
	return o.write(out, rows)
}

// likeliest returns the words with the largest probabilities, without those of
// 0.
func likeliest(p []float64, top int) []embeddings.WordID {
	order := make([]embeddings.WordID, 0, len(p))
	for y, x := range p {
		if x > 0 {
			order = append(order, embeddings.WordID(y))
		}
	}
	slices.SortStableFunc(order, func(a, b embeddings.WordID) int { return cmp.Compare(p[b], p[a]) })
	return order[:min(top, len(order))]
}

// deniability prints N_w and S_w of words, and their means.
func (o *explainOptions) deniability(cmd *cobra.Command, m mechanisms.Mechanism, words []embeddings.WordID,
	seed stream.Seed) error {
	rng := seed.Derive("deniability").Rand()
	all, err := metrics.MeasureDeniability(words, o.runs,
		func(dst, src []embeddings.WordID) { m.Privatize(dst, src, nil, rng) })
	if err != nil {
		return err
	}
	rows := [][]string{{"word", "runs", "unchanged", "n_w", "n_w_exact", "s_w", "s_w_others"}}
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
		rows = append(rows, row)
		nw, sw, others = nw+d.Nw(), sw+float64(d.Distinct), others+float64(d.Others())
		runs, unchanged = runs+d.Runs, unchanged+d.Unchanged
	}
	n := float64(len(all))
	mean := []string{"(mean)", strconv.Itoa(runs), strconv.Itoa(unchanged), number(nw / n), "", number(sw / n),
		number(others / n)}
	if exact {
		mean[4] = number(100 * exactNw / n)
	}
	return o.write(cmd.OutOrStdout(), append(rows, mean))
}
