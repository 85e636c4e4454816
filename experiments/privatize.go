package experiments

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"mldpbench/datasets"
	"mldpbench/datasets/table"
	"mldpbench/embeddings"
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

// Privatization says which files are privatised, and how.
type Privatization struct {
	Call
	Instance                  // Epsilon may be given by DocumentEpsilon or Target
	Words           TextWords // how the words of a text are treated
	Program         string    // a command that is the mechanism, in place of one that is built in; "" for none
	Paths           []string  // of files, patterns or folders; none or "-" is standard input
	Input           table.Options
	Keep            string  // file of words, or words, that pass unchanged
	Seed            *uint64 // for tests: repeats a run; nil is cryptographic
	Keyed                   // in place of Seed; Input.ID tells the rows apart
	Workers         int     // cores
	DocumentEpsilon float64 // of a whole line or row, shared by its words; 0 for none
	Target          string  // such as em=0.5; "" for none
	Out             string  // file, or folder of several; "" is standard output
	Report          string  // file of the notes as JSON; "" for none
	Stdin           io.Reader
	Stdout          io.Writer
}

// TextWords says how the words of a text are treated.
type TextWords struct {
	Policy string // of words outside the vocabulary
	Case   string // vocabulary or keep
	Layout string // written, plain or fixed=N
}

// options are checked.
func (w TextWords) options() (privatize.Options, error) {
	o := privatize.Options{Policy: mechanisms.Policy(w.Policy), KeepCase: w.Case == "keep"}
	layout, err := parseLayout(w.Layout)
	if err != nil {
		return o, err
	}
	o.Layout = layout
	if o.KeepCase && layout != privatize.Written {
		return o, check.Wrong("case keep and layout %s: a plain layout has no capitals", w.Layout)
	}
	if err := mechanisms.CheckPolicy(o.Policy); err != nil {
		return o, err
	}
	return o, check.OneOf("case", w.Case, "vocabulary", "keep")
}

// parseLayout reads written, plain or fixed=N.
func parseLayout(text string) (privatize.Layout, error) {
	words, fixed := strings.CutPrefix(text, "fixed=")
	n, err := strconv.Atoi(words)
	switch {
	case text == "written":
		return privatize.Written, nil
	case text == "plain":
		return privatize.Plain, nil
	case fixed && err == nil && n > 0:
		return privatize.Layout(n), nil
	}
	return 0, check.Wrong("layout = %q: must be written, plain or fixed=N, N >= 1", text)
}

// privatizing is a privatization in progress.
type privatizing struct {
	Privatization
	*Outcome
	parts   parts
	kept    []string // words that pass unchanged
	options privatize.Options
	space   *embeddings.Space // nil for a command
	target  *TextTarget       // nil: ε is given
	ledger  *privatize.Ledger // nil: there is none
	report  privatizeReport
}

// privatizeReport is the content of Privatization.Report.
type privatizeReport struct {
	Version    string            `json:"version"`
	File       string            `json:"file"`
	Vectors    string            `json:"vectors"` // their fingerprint
	Seeded     bool              `json:"seeded"`
	Key        string            `json:"key,omitempty"` // its name
	Release    string            `json:"release,omitempty"`
	Ledger     []privatize.Spent `json:"ledger,omitempty"` // of all releases that it has
	Statements []string          `json:"statements"`       // the notes
	Summary    privatize.Summary `json:"summary"`
	Copied     []table.Copied    `json:"copied_unchanged,omitempty"` // columns
	LookAt     *lookAt           `json:"look_at,omitempty"`
}

// lookAt is how many texts of a sample are to be looked at: see exposure.isNamed.
type lookAt struct {
	Texts int `json:"texts"` // of the sample
	Named int `json:"re_identified"`
}

// Privatize privatises files. The notes of its outcome say what is promised, before anything is read, and then what was
// changed and what is still found.
func Privatize(ctx context.Context, o Privatization) (_ *Outcome, err error) {
	p := &privatizing{Privatization: o, Outcome: o.answer()}
	p.Call = p.Outcome.call
	if err := p.check(); err != nil {
		return nil, err
	}
	root, err := p.seeds()
	if err != nil {
		return nil, err
	}
	name := cmp.Or(strings.Join(p.Paths, " "), "-")
	p.report = privatizeReport{
		Version: p.Version,
		File:    name,
		Seeded:  p.Seed != nil,
	}
	end, err := p.open(ctx, root)
	defer func() { err = errors.Join(err, end()) }()
	if err != nil {
		return nil, err
	}
	if err := p.openLedger(); err != nil {
		return nil, err
	}
	p.notePromise()
	s := privatize.New(p.options)
	if err := p.write(ctx, s); err != nil {
		return nil, err
	}
	p.report.Summary = s.Summary()
	if err := p.addToLedger(); err != nil {
		return nil, err
	}
	p.noteSum(p.report.Summary)
	p.noteCopied(p.report.Copied)
	if err := p.noteFound(ctx, s, name); err != nil {
		return nil, err
	}
	if p.Report == "" {
		return p.Outcome, nil
	}
	p.report.Statements = p.Notes
	return p.Outcome, atomicfile.WriteJSON(p.Report, p.report)
}

// seeds completes the options of the text, and returns the seed of all that is random.
func (p *privatizing) seeds() (root stream.Seed, err error) {
	p.options, err = p.Words.options()
	if err != nil {
		return root, err
	}
	switch {
	case p.Key != "":
		root, err = p.readKey(&p.options)
	case p.Seed != nil:
		root = stream.FromUint64(*p.Seed)
	default:
		root, err = stream.Cryptographic()
	}
	p.options.Seed = root.Derive("text")
	p.options.Workers = p.Workers
	p.options.Document = p.DocumentEpsilon
	return root, err
}

// check completes and checks the options for the files.
func (p *privatizing) check() (err error) {
	if err := p.Keyed.check(p.Input.ID, p.Seed != nil, p.Target == ""); err != nil {
		return err
	}
	p.parts, err = partsOf(p.Paths)
	if err != nil {
		return err
	}
	reads, err := p.checkInputs()
	if err != nil {
		return err
	}
	if err := p.checkWholeTexts(); err != nil {
		return err
	}
	p.Epsilon = cmp.Or(p.DocumentEpsilon, p.Epsilon)
	if p.Target != "" {
		p.target, err = parseTextTarget(p.Target, p.parts.files[0].path)
		if err != nil {
			return err
		}
		p.Mechanism = cmp.Or(p.Mechanism, BestMechanism)
		p.Embedding = cmp.Or(p.Embedding, BestVectors)
		p.Epsilon = 1 // until it is found
	}
	vectors, _ := study.VectorFile(p.Embedding, datasets.Root(p.Data)) // "": a name
	reads = append(reads, vectors)
	if p.parts.several {
		if err := checkFolder(p.Out); err != nil {
			return err
		}
		return p.mayWrite(reads, p.Report)
	}
	if err := p.Input.CheckOutput(p.Out); err != nil {
		return err
	}
	return p.mayWrite(reads, p.Report, p.Out)
}

// checkWholeTexts refuses what has no meaning for a mechanism that rewrites whole texts.
func (p *privatizing) checkWholeTexts() error {
	if p.Mechanism == "" {
		return nil
	}
	s, err := parseInstance(p.Mechanism)
	if err != nil {
		return Usage(err)
	}
	d, err := s.Definition()
	if err != nil {
		return Usage(err)
	}
	if !d.Documents {
		return nil
	}
	switch {
	case p.Target != "":
		return check.Wrong("%s and --target: E_M is of words, and it rewrites whole texts; give --epsilon", d.Name)
	case p.DocumentEpsilon != 0:
		return check.Wrong("%s and --document-epsilon: its epsilon is that of a text, with no words to share it; give "+
			"--epsilon", d.Name)
	case p.Keep != "":
		return check.Wrong("%s and --keep-words: it rewrites whole texts and keeps no word", d.Name)
	}
	return nil
}

// checkInputs completes and checks the options of each file, and returns all that are read.
func (p *privatizing) checkInputs() (reads []string, err error) {
	p.Input.Text = true
	reads = []string{p.Keep, p.Key, p.Ledger}
	for i := range p.parts.files {
		one := &p.parts.files[i]
		one.input = p.Input
		one.input.Name = one.path
		if one.path == "-" {
			one.input.Name = "standard input"
		}
		one.input.Format = cmp.Or(p.Input.Format, table.FormatOf(one.path))
		if err := one.input.Check(); err != nil {
			return nil, err
		}
		reads = append(reads, one.path)
	}
	p.Input = p.parts.files[0].input
	return reads, nil
}

// open opens the mechanism or the command. end closes it.
func (p *privatizing) open(ctx context.Context, root stream.Seed) (end func() error, err error) {
	end = func() error { return nil }
	if p.Keep != "" {
		p.kept, err = wordsOf(p.Keep)
		if err != nil {
			return end, err
		}
	}
	if p.Program == "" {
		return end, p.openMechanism(ctx, root)
	}
	return p.openCommand(ctx, root)
}

// openMechanism makes the mechanism, at the ε of the target if there is one.
func (p *privatizing) openMechanism(ctx context.Context, root stream.Seed) error {
	s, env, err := p.Instance.open(ctx, p.Call, root)
	if err != nil {
		return err
	}
	if p.target != nil {
		calibrator := measure.Calibrator{
			Env:      env,
			Settings: s,
			Seed:     root.Derive("target"),
			Threads:  p.Workers,
		}
		if err := p.target.Find(ctx, calibrator, p.inputs(), p.kept); err != nil {
			return err
		}
		s.Epsilon = p.target.Epsilon.Float()
	}
	m, err := mechanisms.New(env, s)
	if err != nil {
		return err
	}
	p.space = env.Space
	p.options.Mechanism = mechanisms.KeepWords(m, p.kept)
	p.options.Vectors = env.Space.Fingerprint()
	return nil
}

// openCommand opens the command, whose vectors, if given, are used to find words. end
// closes it.
func (p *privatizing) openCommand(ctx context.Context, root stream.Seed) (end func() error, err error) {
	end = func() error { return nil }
	var space *embeddings.Space
	var vectors func(io.Writer) error
	if p.Embedding != "" {
		env, err := p.environment(ctx, p.Call, root)
		if err != nil {
			return end, err
		}
		space = env.Space
		vectors = space.WriteText
		p.options.Vectors = space.Fingerprint()
	}
	if err := check.Positive("epsilon", p.Epsilon); err != nil {
		return end, err
	}
	args, err := external.Split(p.Program)
	if err != nil {
		return end, Usage(err)
	}
	c, err := external.Open(ctx, args, external.Options{Vectors: vectors})
	if err != nil {
		return end, err
	}
	p.options.Program = c.Key
	m, err := c.At(p.Epsilon)
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
	after, err := m.RewriteTexts(ctx, list.Map(documents, func(d []string) string {
		return d[0]
	}), seeds)
	return list.Map(after, func(t string) []string { return []string{t} }), err
}
