package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/experiments"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/atomicfile"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
	"mldpbench/mechanisms/privatize"
	"mldpbench/stream"
)

// privatizing is a run of mldp privatize.
type privatizing struct {
	// Flags.
	instance    instanceOptions
	input       table.Options
	words       wordFlags
	keep        string
	seed        uint64
	command     commandOptions
	workers     int
	perDocument float64
	targetLevel string
	out         string
	reportTo    string

	parts   parts
	options privatize.Options
	space   *embeddings.Space       // nil for a command
	target  *experiments.TextTarget // nil: ε is given
	report  privatizeReport
	stderr  io.Writer
}

func newPrivatizeCommand() *cobra.Command {
	var o privatizing
	cmd := command("privatize", "[FILE...]")
	cmd.Aliases = []string{"privatise"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) }
	o.instance.addFlags(cmd)
	o.command.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar((*string)(&o.input.Format), "format", "", "of the input: lines, csv, tsv, jsonl, json or parquet "+
		"(default: by the file's suffix)")
	textFlags(f, &o.input.Delimiter, &o.input.Encoding)
	f.StringArrayVar(&o.input.Columns, "column", nil, "column or field to privatise; may be repeated")
	f.BoolVar(&o.input.NoHeader, "no-header", false, "the first row is data; --column is a number from 1")
	f.StringVar(&o.keep, "keep-words", "", "words that pass unchanged, such as stop words: "+wordsHelp)
	o.words.addFlags(f)
	f.Uint64Var(&o.seed, "seed", 0, "for tests: repeat a run; undoes the protection (default: cryptographic)")
	coresFlag(f, &o.workers)
	f.Float64Var(&o.perDocument, "document-epsilon", 0, "instead of --epsilon: privacy parameter of a whole line or "+
		"row, shared by its words")
	f.StringVar(&o.targetLevel, "target", "", "instead of --epsilon: em=SHARE of the words of the file on which the best "+
		"guess is wrong; without --mechanism by "+best+", without --embedding over "+bestVectors)
	outFlag(f, &o.out, "", "file to write (default: standard output), or folder of several files")
	f.StringVar(&o.reportTo, "report", "", "write the statements of standard error to this file, as JSON")
	require(cmd, "mechanism|command|target", "epsilon|document-epsilon|target", "embedding|command|target")
	cmd.MarkFlagsMutuallyExclusive("epsilon", "document-epsilon", "target")
	for _, flag := range []string{"target", "mechanism", "document-epsilon", "keep-words", "policy"} {
		cmd.MarkFlagsMutuallyExclusive("command", flag)
	}
	return cmd
}

// best is the mechanism that keeps most at equal E_M, of those that promise something
// between any two words (results/reports/1), with the vectors that it was measured on.
const best, bestVectors = "rank-fix", "glove.6B.100d"

// privatizeReport is the content of --report.
type privatizeReport struct {
	Version    string            `json:"version"`
	File       string            `json:"file"`
	Vectors    string            `json:"vectors"` // their fingerprint
	Seeded     bool              `json:"seeded"`
	Statements []string          `json:"statements"` // of standard error
	Summary    privatize.Summary `json:"summary"`
	Copied     []table.Copied    `json:"copied_unchanged,omitempty"` // columns
}

// check completes and checks the flags for the files of the arguments.
func (p *privatizing) check(cmd *cobra.Command, args []string) (err error) {
	if p.parts, err = partsOf(args); err != nil {
		return err
	}
	p.input.Text = true
	reads := []string{p.keep}
	for i := range p.parts.files {
		one := &p.parts.files[i]
		one.input = p.input
		one.input.Name = one.path
		if one.path == "-" {
			one.input.Name = "standard input"
		}
		one.input.Format = cmp.Or(p.input.Format, table.FormatOf(one.path))
		if err := one.input.Check(); err != nil {
			return err
		}
		reads = append(reads, one.path)
	}
	name := p.parts.files[0].path
	p.input = p.parts.files[0].input
	p.instance.epsilon = cmp.Or(p.perDocument, p.instance.epsilon)
	if p.targetLevel != "" {
		if p.target, err = experiments.ParseTextTarget(p.targetLevel, name); err != nil {
			return err
		}
		p.instance.mechanism, p.instance.epsilon = cmp.Or(p.instance.mechanism, best), 1 // until it is found
		p.instance.space.embedding = cmp.Or(p.instance.space.embedding, bestVectors)
	}
	vectors, _ := study.VectorFile(p.instance.space.embedding, datasets.Root(p.instance.space.data)) // "": a name
	reads = append(reads, vectors)
	if p.parts.several {
		if err := checkFolder(p.out); err != nil {
			return err
		}
		return mayWrite(cmd, reads, p.reportTo)
	}
	if err := p.input.CheckOutput(p.out); err != nil {
		return err
	}
	return mayWrite(cmd, reads, p.reportTo, p.out)
}

func (p *privatizing) run(cmd *cobra.Command, args []string) (err error) {
	if err := p.check(cmd, args); err != nil {
		return err
	}
	name := cmp.Or(strings.Join(args, " "), "-")
	// Vectors and rows of a mechanism stay in memory, batches of the text do
	// not. Without this setting the garbage collector would let memory double.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	p.stderr = cmd.ErrOrStderr()
	if p.options, err = p.words.options(); err != nil {
		return err
	}
	root, seeded := stream.FromUint64(p.seed), cmd.Flags().Changed("seed")
	if !seeded {
		if root, err = stream.Cryptographic(); err != nil {
			return err
		}
	}
	p.options.Seed, p.options.Workers, p.options.Document = root.Derive("text"), p.workers, p.perDocument
	p.report = privatizeReport{Version: mldpVersion(), File: name, Seeded: seeded}
	end, err := p.open(cmd.Context(), root)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return err
	}
	p.state()
	s := privatize.New(p.options)
	if err := p.write(cmd, s); err != nil {
		return err
	}
	p.report.Summary = s.Summary()
	p.sum(p.report.Summary)
	p.left(p.report.Copied)
	if err := p.bought(cmd.Context(), s, name); err != nil {
		return err
	}
	if p.reportTo == "" {
		return nil
	}
	return atomicfile.WriteJSON(p.reportTo, p.report)
}

// open opens the mechanism or the command. end closes it.
func (p *privatizing) open(ctx context.Context, root stream.Seed) (end func() error, err error) {
	end = func() error { return nil }
	if p.keep != "" {
		p.options.Kept, err = wordsOf(p.keep)
		if err != nil {
			return end, err
		}
	}
	if p.command.line == "" {
		return end, p.openMechanism(ctx, root)
	}
	return p.openCommand(ctx, root)
}

// openMechanism makes the mechanism, at the ε of --target if there is one.
func (p *privatizing) openMechanism(ctx context.Context, root stream.Seed) error {
	s, env, err := p.instance.environment(ctx, root)
	if err != nil {
		return err
	}
	if p.target != nil {
		calibrator := measure.Calibrator{Env: env, Settings: s, Seed: root.Derive("target"), Threads: p.workers}
		if err := p.target.Find(ctx, calibrator, p.inputs(), p.options.Kept); err != nil {
			return err
		}
		s.Epsilon = p.target.Epsilon.Float()
	}
	m, err := mechanisms.New(env, s)
	if err != nil {
		return err
	}
	p.space = env.Space
	p.options.Mechanism = mechanisms.KeepWords(m, p.options.Kept)
	p.options.Vectors = env.Space.Fingerprint()
	return nil
}

// openCommand opens the command, whose vectors, if given, are used to find words. end
// closes it.
func (p *privatizing) openCommand(ctx context.Context, root stream.Seed) (end func() error, err error) {
	end = func() error { return nil }
	var space *embeddings.Space
	var vectors func(io.Writer) error
	if p.instance.space.embedding != "" {
		env, err := p.instance.space.environment(ctx, false, root)
		if err != nil {
			return end, err
		}
		space = env.Space
		vectors = space.WriteText
		p.options.Vectors = space.Fingerprint()
	}
	if err := check.Positive("epsilon", p.instance.epsilon); err != nil {
		return end, err
	}
	args, err := external.Split(p.command.line)
	if err != nil {
		return end, usage(err)
	}
	c, err := external.Open(ctx, args, external.Options{Vectors: vectors})
	if err != nil {
		return end, err
	}
	p.options.Program = c.Key
	m, err := c.At(p.instance.epsilon)
	if err != nil {
		return c.Close, err
	}
	var r mechanisms.Rewriter = m
	p.options.Texts = m.ReadsText()
	if p.options.Texts {
		r = wholeTexts{m}
	}
	p.options.Mechanism, err = mechanisms.Rewriting(r, space)
	return c.Close, err
}

// wholeTexts is a command of whole texts: each is one token.
type wholeTexts struct{ *external.Mechanism }

func (m wholeTexts) Aligned() bool { return true }

func (m wholeTexts) Rewrite(ctx context.Context, documents [][]string, seeds []stream.Seed) ([][]string, error) {
	after, err := m.RewriteTexts(ctx, list.Map(documents, func(d []string) string { return d[0] }), seeds)
	return list.Map(after, func(t string) []string { return []string{t} }), err
}

// say states something on standard error and in the report.
func (p *privatizing) say(format string, args ...any) {
	p.report.Statements = append(p.report.Statements, fmt.Sprintf(format, args...))
	fmt.Fprintf(p.stderr, format+"\n", args...)
}

// state says what is promised, before anything is read.
func (p *privatizing) state() {
	m := p.options.Mechanism
	g := m.Guarantee()
	what, unknown, unit, promise := instanceName(m.Settings()), p.words.policy, "word", g.String()
	if m.Outside() {
		unknown = "left to the command"
	}
	if s := p.space; s != nil {
		p.report.Vectors = p.options.Vectors
		what += fmt.Sprintf("; vectors %s, %d dimensions, %d words", s.Name, s.Dimension, s.Len())
	}
	switch {
	case p.options.Texts: // what its epsilon means is known to the command
		unit = "text"
	case p.perDocument != 0:
		unit, promise = "document", mechanisms.DocumentGuarantee(g, p.perDocument)
		fallthrough
	default:
		what += "; unknown words: " + unknown
	}
	p.say("%s", what)
	p.say("guarantee per %s: %s", unit, promise)
	for _, w := range (mechanisms.TextOptions{Policy: p.options.Policy}).Warnings(g) {
		p.say("warning: %s", w)
	}
	if p.report.Seeded {
		p.say("warning: --seed is for tests: anyone who knows or guesses it can undo the protection; leave it out unless the " +
			"text is public")
	}
}

// sum says what was done.
func (p *privatizing) sum(sum privatize.Summary) {
	unit := "words"
	if p.options.Texts {
		unit = "texts"
	}
	p.say("%d %s: %d changed, %d unchanged, %d unknown", sum.Words, unit, sum.Changed,
		sum.Words-sum.Changed-sum.Unknown-sum.Cut, sum.Unknown)
	if n := p.options.Layout; n > 0 {
		p.say("layout: every text has %d words: %d were cut, %d filled in", n, sum.Cut, sum.Filled)
	}
	if sum.Rewritten == 0 && sum.Wordless > 0 {
		p.say("warning: no row has a word: there was nothing to change")
	}
	share := func(n, of uint64) float64 { return 100 * float64(n) / max(1, float64(of)) }
	if unchanged := share(sum.Known-sum.Changed, sum.Known); unchanged > 50 {
		p.say("warning: %.0f%% of the %s came back unchanged: this publishes most of the text; --target em=0.5 finds the "+
			"epsilon at which half of the words are not found", unchanged, unit)
	}
	switch unknown := share(sum.Unknown, sum.Words); {
	case p.options.Policy == mechanisms.Keep && unknown > 0:
		p.say("warning: policy keep published %.0f%% of the words, those outside the vocabulary: names, numbers, "+
			"addresses",
			unknown)
	case unknown > 25:
		p.say("warning: %.0f%% of the words are not in the vocabulary: are these the right vectors for the text?", unknown)
	}
	if p.options.Mechanism.Guarantee().Holds() && !p.options.Texts {
		p.say("epsilon spent, per unit of distance: at most %.6g on a line; in total %.6g", sum.EpsilonMost,
			sum.EpsilonTotal)
	}
}
