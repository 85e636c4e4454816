package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets/textio"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// privatizeOptions are the flags of mldp privatize.
type privatizeOptions struct {
	instance instanceOptions
	inputs   inputOptions
	policy   string
	letters  string
	seed     uint64
	seeded   bool
	command  commandOptions
	keep     string
	workers  int
	document float64
	out      string
	report   string
}

func newPrivatizeCommand() *cobra.Command {
	var o privatizeOptions
	cmd := &cobra.Command{
		Use:   "privatize [FILE...]",
		Short: "Privatise text: files or standard input, lines, CSV, TSV, JSON or Parquet",
		Long: `Privatize replaces every word of the files, or of standard input, line by line,
and writes the result to standard output or to --out: a file, or for several
files a folder. In CSV, TSV and JSON lines only the given --column is changed;
header, other columns, quotes and line ends stay the same byte for byte. Input
may be gzipped; output is gzipped if the name of --out ends in .gz. Input must
be UTF-8 unless --encoding is given; output is UTF-8. A file of --out appears
when it is complete. Memory does not grow with the size of a file; a line of
more than 1 MiB is processed in parts, cut at white space.

A word is a run of letters, digits and marks, with single apostrophes, hyphens,
full stops, underscores, & or @ inside. It is looked up as spelled, in lower
case and, if the vectors do not have it, in parts: a contraction as the vectors
were trained (do n't, it 's), anything else at its joiners. Numbers (also with
comma, colon or slash between digits, as in 1,000) and names are words; an
e-mail address or URL is one word, and so is an emoji. A word outside the
vocabulary is replaced by a random one, kept (which publishes it), or dropped
with the space before it. Spaces and punctuation are copied. The number of
words, punctuation and, with --case keep, capitals are therefore not protected.
This does not remove personal data: a name becomes another word only with the
probability given by the mechanism.

A --command speaks the protocol of docs/external.md and gets the words of the text,
as --embedding spells them if it is given, or else as in the text. It decides
about unknown words, and its guarantee is the one it declares.

Without --seed the noise comes from the operating system and cannot be repeated;
a known seed undoes the protection. Before the first line, standard error states
the guarantee and its effect on the words of this text; after the last line, the
epsilon spent. Standard error and --report describe the private text: keep them
private. Response times reveal something too: the first occurrence of a word may
take longer than later ones, so anyone who can time single lines learns of
repeats.

Guarantees are proved for real numbers. Finite precision changes probabilities
by a factor that standard error states where one is proved ("as computed"): 1 ±
about 1e-9 for santext and tem, 1 ± 0.002 for cmp and vickrey on 100 dimensions.
For cmp and vickrey there is also a delta of 2e-17, times e^(epsilon·d) for
words far apart: beyond epsilon·d = 38 nothing is proved. For mahalanobis and
the others no factor is known.`,
		Example: `  mldp privatize --mechanism cmp --epsilon 10 --embedding vectors.txt < in.txt > out.txt
  mldp privatize --mechanism tem --epsilon 5 --embedding vectors.txt --csv --column body reviews.csv -o private.csv
  mldp privatize --mechanism cmp --epsilon 10 --embedding glove.6B.100d --case keep --report report.json in.txt -o out.txt
  mldp privatize --mechanism cmp --document-epsilon 200 --embedding vectors.txt in.txt
  mldp privatize --mechanism tem --epsilon 2 --embedding vectors.txt --keep-words "the and was" in.txt
  mldp privatize --command "python3 client.py cmp vectors.txt" --epsilon 10 in.txt`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seeded = cmd.Flags().Changed("seed")
			if cmd.Flags().Changed("document-epsilon") {
				o.instance.epsilon = o.document
			}
			if (o.command.line == "") == (o.instance.mechanism == "") {
				return &exitError{exitUsage, errors.New("give what privatises: --mechanism or --command")}
			}
			return o.run(cmd, args)
		},
	}
	o.instance.addFlags(cmd)
	o.inputs.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.keep, "keep-words", "", "words that pass unchanged, such as stop words: "+wordsHelp)
	f.StringVar(&o.policy, "policy", string(mechanisms.Random),
		"for words outside the vocabulary: random, keep or drop")
	f.StringVar(&o.letters, "case", "vocabulary", "vocabulary: words as the vectors spell them; keep: Title and "+
		"UPPER as they were")
	f.Uint64Var(&o.seed, "seed", 0, "seed, to repeat a run (default: cryptographic)")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "cores to use; the text does not depend on it")
	f.Float64Var(&o.document, "document-epsilon", 0, "instead of --epsilon: privacy parameter of a whole line or "+
		"row, shared by its words")
	f.StringVarP(&o.out, "out", "o", "", "file to write, or folder for several (default: standard output)")
	f.StringVar(&o.report, "report", "", "write the statements of standard error to this file, as JSON")
	cmd.MarkFlagsOneRequired("epsilon", "document-epsilon")
	cmd.MarkFlagsMutuallyExclusive("epsilon", "document-epsilon")
	for _, flag := range []string{"mechanism", "variant", "param", "document-epsilon", "keep-words", "policy"} {
		cmd.MarkFlagsMutuallyExclusive("command", flag)
	}
	return cmd
}

// The unit on which an epsilon is spent.
const (
	budgetWord     = "word"
	budgetDocument = "document"
)

// privatizeReport is the content of --report.
type privatizeReport struct {
	Version   string   `json:"version"`
	Mechanism string   `json:"mechanism"`
	Vectors   vectors  `json:"vectors"`
	Policy    string   `json:"policy"`
	Case      string   `json:"case"`
	Seeded    bool     `json:"seeded"`
	Budget    string   `json:"budget"` // word or document
	Guarantee string   `json:"guarantee"`
	Numerical string   `json:"numerical,omitempty"` // effect of finite precision on it
	Scope     string   `json:"scope,omitempty"`     // between which words it holds, "" between any two
	Promised  bool     `json:"promised"`
	Epsilon   float64  `json:"epsilon"`
	Warnings  []string `json:"warnings"`

	Probe   *privatize.Probe  `json:"probe,omitempty"`
	Files   []string          `json:"files"`
	Summary privatize.Summary `json:"summary"`
}

type vectors struct {
	Name        string `json:"name"`
	Dimension   int    `json:"dimension"`
	Words       int    `json:"words"`
	Fingerprint string `json:"fingerprint"`
}

func (o *privatizeOptions) check(args []string) (jobs []inputFile, err error) {
	for _, err := range []error{
		mechanisms.CheckPolicy(mechanisms.Policy(o.policy)),
		check.OneOf("case", o.letters, "vocabulary", "keep"),
		check.AtLeast("workers", o.workers, 1),
	} {
		if err != nil {
			return nil, err
		}
	}
	if o.document != 0 {
		if err := check.Positive("document-epsilon", o.document); err != nil {
			return nil, err
		}
		o.inputs.whole = true
	}
	return o.inputs.files(args, o.out)
}

func (o *privatizeOptions) run(cmd *cobra.Command, args []string) (runErr error) {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	files, err := o.check(args)
	for _, f := range files {
		err = cmp.Or(err, mayReplace(cmd.Flags(), f.out))
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	// Vectors and rows of a mechanism stay in memory, batches of the text do
	// not. Without this setting the garbage collector would let memory double.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	root := stream.FromUint64(o.seed)
	if !o.seeded {
		if root, err = stream.Cryptographic(); err != nil {
			return err
		}
	}
	options := privatize.Options{
		Policy: mechanisms.Policy(o.policy), KeepCase: o.letters == "keep", Seed: root.Derive("text"),
		Workers: o.workers,
	}
	report := privatizeReport{
		Version: mldpVersion(), Policy: o.policy, Case: o.letters, Seeded: o.seeded, Budget: budgetWord,
		Warnings: []string{}, Files: []string{},
	}
	var space *embeddings.Space
	if o.command.line != "" {
		c, err := o.openCommand(ctx, root, &options)
		if err != nil {
			return err
		}
		defer func() { runErr = errors.Join(runErr, c.Close()) }()
		report.Policy = "left to the command"
	} else if space, err = o.openBuiltIn(ctx, root, &options); err != nil {
		return err
	}
	if space != nil && space.Len() == 1 {
		report.Warnings = append(report.Warnings, lab.OneWord)
	}
	what := instanceName(settingsOf(options))
	g := promiseOf(options)
	report.Mechanism, report.Guarantee, report.Promised = what, g.String(), g.Holds()
	report.Numerical, report.Scope, report.Epsilon = g.Numerical.String(), g.Scope, o.instance.epsilon
	if space != nil {
		report.Vectors = vectors{space.Name, space.Dimension, space.Len(), space.Fingerprint()}
		what += fmt.Sprintf("; vectors %s, %d dimensions, %d words", space.Name, space.Dimension, space.Len())
	}
	if o.document != 0 {
		report.Budget, options.Document = budgetDocument, o.document
		// Lines differ in length, so a delta is given per word.
		report.Guarantee = mechanisms.DocumentGuarantee(g, o.document, 1)
	}
	fmt.Fprintf(stderr, "%s; unknown words: %s\nguarantee per %s: %s\n", what, report.Policy, report.Budget,
		report.Guarantee)
	if report.Promised && report.Numerical == "" {
		report.Numerical = "as computed: no bound is proved on the effect of finite precision"
	}
	if report.Numerical != "" {
		fmt.Fprintln(stderr, report.Numerical)
	}
	s, err := privatize.New(options)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	s.First = func(sample privatize.Sample) error {
		perWord := 0.0
		if o.document != 0 && len(sample.Known) > 0 {
			perWord = o.document * float64(sample.Texts) / float64(len(sample.Known))
		}
		// Separate noise, so what is shown reveals nothing about the noise of
		// the text.
		if options.Mechanism != nil {
			if report.Probe, err = privatize.NewProbe(options.Mechanism, space, sample.Known, perWord,
				root); err != nil {
				return err
			}
		}
		notice := privatize.Notice{
			Seeded: o.seeded, KeepCase: options.KeepCase, Policy: options.Policy,
			Unknown: float64(sample.Unknown) / float64(sample.Unknown+len(sample.Known)),
		}
		if options.Rewriter != nil {
			notice.Unknown = 0 // decided by the command
		}
		found := notice.Warnings(g, report.Probe)
		report.Warnings = append(report.Warnings, found...)
		printProbe(stderr, report.Probe, report.Budget)
		for _, w := range found {
			fmt.Fprintln(stderr, "warning:", w)
		}
		return nil
	}
	for _, f := range files {
		if err := f.privatize(cmd, s); err != nil {
			return err
		}
		report.Files = append(report.Files, f.name)
	}
	report.Summary = s.Summary(o.instance.epsilon, o.document)
	printSummary(stderr, report.Summary, report.Promised)
	if o.report == "" {
		return nil
	}
	return atomicfile.Write(o.report, 0o644, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(report)
	})
}

func printProbe(w io.Writer, p *privatize.Probe, budget string) {
	if p == nil {
		return
	}
	how := ""
	if p.Draws > 0 {
		how = fmt.Sprintf(" (of %d draws)", p.Draws)
	}
	fmt.Fprintf(w, "of %d words of this text: %.0f%% come back unchanged; effective number of outputs, median: %.3g%s\n",
		p.Words, 100*p.Unchanged, p.Support, how)
	if p.Odds == nil {
		return
	}
	near := ""
	if p.Odds.Nearest != nil {
		near = "; between nearest neighbours: " + privatize.Factor(*p.Odds.Nearest)
	}
	if p.Odds.AnyTwo == nil {
		fmt.Fprintln(w, strings.TrimSuffix(p.Odds.Worst, ".")+near)
		return
	}
	between := "words"
	if budget == budgetDocument {
		between = "texts of equal length"
	}
	fmt.Fprintf(w, "an output may change the odds between any two %s by a factor of %s%s\n", between,
		privatize.Factor(*p.Odds.AnyTwo), near)
}

func printSummary(w io.Writer, s privatize.Summary, promised bool) {
	fmt.Fprintf(w, "%d words: %d changed, %d unknown\n", s.Words, s.Changed, s.Unknown)
	if promised {
		fmt.Fprintf(w, "epsilon spent per line with words: median %.6g, most %.6g; in total %.6g\n", s.EpsilonMedian,
			s.EpsilonMost, s.EpsilonTotal)
	}
}

// openBuiltIn builds the instance and returns the space it is built from.
func (o *privatizeOptions) openBuiltIn(ctx context.Context, seed stream.Seed, to *privatize.Options) (*embeddings.Space,
	error) {
	s, err := o.instance.settings()
	if err != nil {
		return nil, err
	}
	d, err := mechanisms.Find(s.Mechanism)
	if err != nil {
		return nil, err
	}
	if o.keep != "" {
		if to.Kept, err = wordsOf(o.keep); err != nil {
			return nil, err
		}
	}
	env, err := o.instance.space.environment(ctx, d.Needs.Thesaurus, seed)
	if err != nil {
		return nil, err
	}
	m, err := mechanisms.New(env, s)
	if err != nil {
		return nil, err
	}
	to.Mechanism = mechanisms.KeepWords(m, to.Kept)
	return env.Space, nil
}

// openCommand starts the command; the vectors, if given, are used to find
// words.
func (o *privatizeOptions) openCommand(ctx context.Context, seed stream.Seed, to *privatize.Options) (*external.Command,
	error) {
	if err := check.Positive("epsilon", o.instance.epsilon); err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var vectors func(io.Writer) error
	if o.instance.space.embedding != "" {
		env, err := o.instance.space.environment(ctx, false, seed)
		if err != nil {
			return nil, err
		}
		to.Vocabulary, vectors = env.Space.Vocabulary, env.Space.WriteText
	}
	c, err := o.command.open(ctx, vectors)
	if err != nil {
		return nil, err
	}
	if to.Rewriter, err = c.At(o.instance.epsilon); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func settingsOf(o privatize.Options) mechanisms.Settings {
	if o.Rewriter != nil {
		return o.Rewriter.Settings()
	}
	return o.Mechanism.Settings()
}

func promiseOf(o privatize.Options) mechanisms.Guarantee {
	if o.Rewriter != nil {
		return o.Rewriter.Guarantee()
	}
	return o.Mechanism.Guarantee()
}

// inputOptions are the flags of the input format.
type inputOptions struct {
	lines, csv, tsv      bool
	jsonl, json, parquet bool
	delimiter            string
	columns              []string
	noHeader             bool
	encoding             string
	whole                bool
}

func (o *inputOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.csv, "csv", false, "the input is CSV (default for *.csv)")
	f.BoolVar(&o.tsv, "tsv", false, "the input is TSV, without quotes (default for *.tsv)")
	f.BoolVar(&o.jsonl, "jsonl", false, "the input is one JSON object per line (default for *.jsonl, *.ndjson)")
	f.BoolVar(&o.json, "json", false, "the input is an array of JSON objects (default for *.json)")
	f.BoolVar(&o.parquet, "parquet", false, "the input is Parquet (default for *.parquet)")
	f.StringVar(&o.delimiter, "delimiter", "", "of the fields of CSV and TSV, such as \";\" (default: that of the format)")
	f.BoolVar(&o.lines, "lines", false, "the input is plain text, whatever its name")
	f.StringArrayVar(&o.columns, "column", nil, "column or field to privatise; may be repeated")
	f.BoolVar(&o.noHeader, "no-header", false, "the first row is data; --column is a number from 1")
	f.StringVar(&o.encoding, "encoding", "utf-8", "of the input: "+strings.Join(textio.Encodings(), ", "))
	cmd.MarkFlagsMutuallyExclusive("csv", "tsv", "jsonl", "json", "parquet", "lines")
}

// inputFile is one input and where its output goes.
type inputFile struct {
	name    string // "" is standard input
	out     string // "" is standard output
	options textio.Options
}

// files pairs inputs with outputs.
func (o *inputOptions) files(args []string, out string) ([]inputFile, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	folder := len(args) > 1
	if info, err := os.Stat(out); err == nil && info.IsDir() {
		folder = true
	} else if folder && err == nil {
		return nil, fmt.Errorf("--out %s is a file: several inputs need a folder", out)
	}
	if folder && out == "" {
		return nil, errors.New("several inputs need --out with a folder")
	}
	var files []inputFile
	seen := map[string]string{}
	for _, name := range args {
		f := inputFile{name: name, out: out, options: textio.Options{
			Name: name, Format: o.format(name), Columns: o.columns, NoHeader: o.noHeader, Encoding: o.encoding,
			Whole: o.whole, Delimiter: o.delimiter,
		}}
		if name == "-" {
			f.options.Name = "standard input"
		} else if err := textio.CheckName(name); err != nil && !(o.lines || o.csv || o.tsv || o.jsonl) {
			return nil, err
		}
		if err := f.options.Check(); err != nil {
			if f.options.Format != textio.Lines && len(o.columns) == 0 {
				err = fmt.Errorf("%s: name the columns to privatise with --column (or give --lines)", f.options.Name)
			}
			return nil, err
		}
		if folder {
			if name == "-" {
				return nil, errors.New("standard input has no file name for the folder of --out")
			}
			f.out = filepath.Join(out, filepath.Base(name))
		}
		if other, dup := seen[f.out]; dup {
			return nil, fmt.Errorf("%s and %s would both be written to %s", other, name, f.out)
		}
		seen[f.out] = name
		if same(name, f.out) {
			return nil, fmt.Errorf("--out %s would replace its input", f.out)
		}
		files = append(files, f)
	}
	return files, nil
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

func (o *inputOptions) format(name string) textio.Format {
	switch {
	case o.lines:
		return textio.Lines
	case o.csv:
		return textio.CSV
	case o.tsv:
		return textio.TSV
	case o.jsonl:
		return textio.JSONLines
	case o.json:
		return textio.JSON
	case o.parquet:
		return textio.Parquet
	}
	return textio.FormatOf(name)
}

// privatize runs one file through s.
func (f inputFile) privatize(cmd *cobra.Command, s *privatize.Stream) error {
	var in io.Reader
	if f.name == "-" {
		in = interruptible(cmd.Context(), cmd.InOrStdin())
	} else {
		file, err := os.Open(f.name)
		if err != nil {
			return err
		}
		defer file.Close()
		watched, done := watch(file, f.name, cmd.ErrOrStderr())
		defer done()
		in = watched
		if f.options.Format == textio.Parquet {
			rewrite := func(w io.Writer) error {
				return textio.RewriteParquet(cmd.Context(), file, w, f.options, func(r *textio.Reader, w io.Writer) error {
					return s.Run(cmd.Context(), r, w)
				})
			}
			if f.out == "" {
				return rewrite(cmd.OutOrStdout())
			}
			return atomicfile.Write(f.out, 0o644, rewrite)
		}
	}
	run := func(w io.Writer) error {
		r, err := textio.NewReader(in, f.options)
		if err != nil {
			return err
		}
		return s.Run(cmd.Context(), r, w)
	}
	if f.out == "" {
		return run(cmd.OutOrStdout())
	}
	return atomicfile.Write(f.out, 0o644, func(w io.Writer) error { return textio.Compressed(w, f.out, run) })
}
