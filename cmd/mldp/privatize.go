package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// privatizeOptions are the flags of mldp privatize.
type privatizeOptions struct {
	instance    instanceOptions
	inputs      inputOptions
	words       wordFlags
	keep        string
	seed        uint64
	seeded      bool
	command     commandOptions
	workers     int
	perDocument float64
	out         string
	report      string
}

func newPrivatizeCommand() *cobra.Command {
	var o privatizeOptions
	cmd := command("privatize", "[FILE]")
	cmd.Aliases = []string{"privatise"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.seeded = cmd.Flags().Changed("seed")
		if cmd.Flags().Changed("document-epsilon") {
			o.instance.epsilon = o.perDocument
		}
		return o.run(cmd, args)
	}
	o.instance.addFlags(cmd)
	o.instance.space.written = true
	o.inputs.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.keep, "keep-words", "", "words that pass unchanged, such as stop words: "+wordsHelp)
	o.words.addFlags(f)
	f.Uint64Var(&o.seed, "seed", 0, "seed, to repeat a run (default: cryptographic)")
	coresFlag(f, &o.workers)
	f.Float64Var(&o.perDocument, "document-epsilon", 0, "instead of --epsilon: privacy parameter of a whole line or "+
		"row, shared by its words")
	outFlag(f, &o.out, "", "file to write (default: standard output)")
	f.StringVar(&o.report, "report", "", "write the statements of standard error to this file, as JSON")
	require(cmd, "mechanism|command", "epsilon|document-epsilon", "embedding|command")
	cmd.MarkFlagsMutuallyExclusive("epsilon", "document-epsilon")
	for _, flag := range []string{"mechanism", "document-epsilon", "keep-words", "policy"} {
		cmd.MarkFlagsMutuallyExclusive("command", flag)
	}
	return cmd
}

// The unit on which an epsilon is spent.
const (
	budgetWord     = "word"
	budgetDocument = "document"
	budgetText     = "text" // of a command of whole texts: what its epsilon means is known to the command
)

// privatizeReport is the content of --report.
type privatizeReport struct {
	Version   string   `json:"version"`
	Mechanism string   `json:"mechanism"`
	Vectors   vectors  `json:"vectors"`
	Policy    string   `json:"policy"`
	Case      string   `json:"case"`
	Seeded    bool     `json:"seeded"`
	Budget    string   `json:"budget"` // word, document or text
	Guarantee string   `json:"guarantee"`
	Scope     string   `json:"scope,omitempty"` // between which words it holds, "" between any two
	Promised  bool     `json:"promised"`
	Epsilon   float64  `json:"epsilon"`
	Warnings  []string `json:"warnings"`

	AnyTwo  *float64          `json:"any_two_words_log,omitempty"` // ln of the factor by which their odds may change
	File    string            `json:"file"`
	Summary privatize.Summary `json:"summary"`
}

type vectors struct {
	Name        string `json:"name"`
	Dimension   int    `json:"dimension"`
	Words       int    `json:"words"`
	Fingerprint string `json:"fingerprint"`
}

// check returns the options of the input, whose name is "-" for standard input.
func (o *privatizeOptions) check(cmd *cobra.Command, name string) (table.Options, error) {
	err := check.AtLeast("workers", o.workers, 1)
	if o.perDocument != 0 {
		o.inputs.whole = true
		err = cmp.Or(err, check.Positive("document-epsilon", o.perDocument))
	}
	if err != nil {
		return table.Options{}, err
	}
	options, err := o.inputs.of(name)
	if err != nil {
		return options, usage(err)
	}
	return options, cmp.Or(options.CheckOutput(o.out), mayWrite(cmd, reads(cmd, name), o.report, o.out))
}

// privatizing is a run of mldp privatize.
type privatizing struct {
	*privatizeOptions
	root    stream.Seed
	options privatize.Options
	space   *embeddings.Space // nil for a command without vectors
	promise mechanisms.Guarantee
	report  privatizeReport
	stderr  io.Writer
}

func (o *privatizeOptions) run(cmd *cobra.Command, args []string) (err error) {
	name := "-"
	if len(args) > 0 {
		name = args[0]
	}
	options, err := o.check(cmd, name)
	if err != nil {
		return err
	}
	// Vectors and rows of a mechanism stay in memory, batches of the text do
	// not. Without this setting the garbage collector would let memory double.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	p := &privatizing{privatizeOptions: o, root: stream.FromUint64(o.seed), stderr: cmd.ErrOrStderr()}
	if p.options, err = o.words.options(); err != nil {
		return err
	}
	if !o.seeded {
		if p.root, err = stream.Cryptographic(); err != nil {
			return err
		}
	}
	end, err := p.open(cmd.Context())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	p.state()
	s, err := privatize.New(p.options)
	if err != nil {
		return usage(err)
	}
	options.Whole = options.Whole || p.options.Texts != nil
	if err := privatizeFile(cmd, s, name, o.out, options); err != nil {
		return err
	}
	p.report.File = name
	p.report.Summary = s.Summary(o.instance.epsilon, o.perDocument)
	p.sum(p.report.Summary)
	if o.report == "" {
		return nil
	}
	return atomicfile.WriteJSON(o.report, p.report)
}

// sum says what was done.
func (p *privatizing) sum(sum privatize.Summary) {
	switch {
	case p.options.Texts != nil:
		fmt.Fprintf(p.stderr, "%d texts: %d changed, %d unchanged\n", sum.Texts, sum.Texts-sum.Unchanged, sum.Unchanged)
	case p.options.Rewriter != nil:
		fmt.Fprintf(p.stderr, "%d words: %d changed, %d unchanged\n", sum.Words, sum.Changed, sum.Words-sum.Changed)
	default:
		fmt.Fprintf(p.stderr, "%d words: %d changed, %d unknown\n", sum.Words, sum.Changed, sum.Unknown)
	}
	if sum.Rewritten == 0 && sum.Wordless > 0 {
		p.warn("no row has a word: there was nothing to change")
	}
	share := func(n, of uint64) float64 { return 100 * float64(n) / max(1, float64(of)) }
	if unchanged := share(sum.Known-sum.Changed, sum.Known); unchanged > 50 {
		p.warn("%.0f%% of the words came back unchanged: this publishes most of the text; take a smaller epsilon", unchanged)
	}
	unknown := share(sum.Unknown, sum.Words)
	switch {
	case p.options.Mechanism == nil: // the command decides
	case p.options.Policy == mechanisms.Keep && unknown > 0:
		p.warn("policy keep published %.0f%% of the words, those outside the vocabulary: names, numbers, addresses", unknown)
	case unknown > 25 && p.options.Policy != mechanisms.Keep:
		p.warn("%.0f%% of the words are not in the vocabulary: are these the right vectors for the text?", unknown)
	}
	if p.report.Promised && p.options.Texts == nil {
		fmt.Fprintf(p.stderr,
			"epsilon spent, per unit of distance: at most %.6g on a line; in total %.6g\n", sum.EpsilonMost, sum.EpsilonTotal)
	}
}

// open opens the mechanism or the command, whose vectors, if given, are used to
// find words. end closes it.
func (p *privatizing) open(ctx context.Context) (end func() error, err error) {
	end = func() error { return nil }
	p.options.Seed, p.options.Workers = p.root.Derive("text"), p.workers
	if p.keep != "" {
		if p.options.Kept, err = wordsOf(p.keep); err != nil {
			return end, err
		}
	}
	if p.command.line == "" {
		s, env, err := p.instance.environment(ctx, p.root)
		if err != nil {
			return end, err
		}
		m, err := mechanisms.New(env, s)
		if err == nil {
			p.space, p.options.Mechanism = env.Space, mechanisms.KeepWords(m, p.options.Kept)
		}
		return end, err
	}
	var vectors func(io.Writer) error
	if p.instance.space.embedding != "" {
		env, err := p.instance.space.environment(ctx, false, p.root)
		if err != nil {
			return end, err
		}
		p.options.Vocabulary, vectors = env.Space.Vocabulary, env.Space.WriteText
	}
	c, m, err := p.command.open(ctx, p.instance.epsilon, vectors)
	if err != nil {
		return end, err
	}
	p.options.Rewriter = m
	if m.ReadsText() {
		p.options.Texts = m.RewriteTexts
	}
	return c.Close, nil
}

// state says what is promised, before anything is read.
func (p *privatizing) state() {
	var m interface {
		Settings() mechanisms.Settings
		Guarantee() mechanisms.Guarantee
	} = p.options.Rewriter
	policy := "left to the command"
	if p.options.Mechanism != nil {
		m, policy = p.options.Mechanism, p.words.policy
	}
	what := instanceName(m.Settings())
	p.promise = m.Guarantee()
	r := privatizeReport{
		Version: mldpVersion(), Mechanism: what, Policy: policy, Case: p.words.letters, Seeded: p.seeded, Budget: budgetWord,
		Guarantee: p.promise.String(), Scope: p.promise.Scope,
		Promised: p.promise.Holds(), Epsilon: p.instance.epsilon, Warnings: []string{},
	}
	if s := p.space; s != nil {
		r.Vectors = vectors{s.Name, s.Dimension, s.Len(), s.Fingerprint()}
		what += fmt.Sprintf("; vectors %s, %d dimensions, %d words", s.Name, s.Dimension, s.Len())
		if s.Len() == 1 {
			r.Warnings = append(r.Warnings, lab.OneWord)
		}
	}
	unknown := "; unknown words: " + r.Policy
	if p.options.Texts != nil {
		r.Budget, unknown = budgetText, ""
	}
	if p.perDocument != 0 {
		p.options.Document, r.Budget = p.perDocument, budgetDocument
		r.Guarantee = mechanisms.DocumentGuarantee(p.promise, p.perDocument)
	}
	fmt.Fprintf(p.stderr, "%s%s\nguarantee per %s: %s\n", what, unknown, r.Budget, r.Guarantee)
	p.report = r
	for _, w := range (mechanisms.TextOptions{Policy: p.options.Policy}).Warnings(p.promise) {
		p.warn("%s", w)
	}
	if p.seeded {
		p.warn("anyone who knows the seed can undo the protection: leave --seed out unless the text is public")
	}
	if p.options.KeepCase {
		p.warn("case kept: which words are capitalised, and so the positions of names, is not protected")
	}
	if p.space == nil {
		return
	}
	between := "words"
	if p.perDocument != 0 {
		between = "texts of equal length"
	}
	if most := mechanisms.WorstCase(p.promise, p.space); !math.IsInf(most, 1) {
		p.report.AnyTwo = &most
		fmt.Fprintf(p.stderr, "an output may change the odds between any two %s by a factor of %s\n", between,
			mechanisms.Factor(most))
	}
}

// warn states a warning.
func (p *privatizing) warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	p.report.Warnings = append(p.report.Warnings, w)
	fmt.Fprintln(p.stderr, "warning:", w)
}
