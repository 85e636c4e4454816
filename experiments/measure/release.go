package measure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"mldpbench/embeddings/sentence"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
)

// Release is a text that a mechanism privatised: what a measurement is made of.
// The mechanism is built and the text is privatised when they are first asked
// for. The releases of one Open share that work; one goroutine uses them at a
// time.
type Release struct {
	Spec
	Lab    *lab.Lab
	Corpus *lab.Corpus // nil without a data set
	Space  *lab.Space  // nil without vectors
	Took   time.Duration
	Tokens int // privatised
	// Pending are the measurements that this run makes of the release. Those
	// that share work can thus do it for each other.
	Pending []string

	batch   *batch
	aligned [3][][]string  // the private splits, with the empty word for every removed one
	shown   [3][][]string  // the same as a reader sees it
	vectors [3][][]float32 // instead, of mechanisms that release vectors: the mean of each document
	shared  memo.Memo
}

// batch is what the repetitions of a release share.
type batch struct {
	releases  map[int]*Release // by repetition
	first     *Release
	splits    [3]bool // that some measurement reads
	threads   int
	built     bool
	env       mechanisms.Environment
	mechanism *mechanisms.Mechanism
	vector    mechanisms.VectorMechanism
	released  bool
	failed    error // of building; every unit of the run that needs it fails
	unwritten error // of privatising, the same
}

// Open opens the releases of the repetitions of one spec. splits are training,
// validation and test: those that are privatised.
func Open(ctx context.Context, l *lab.Lab, specs []Spec, splits [3]bool, threads int) (map[int]*Release, error) {
	b := &batch{
		releases: map[int]*Release{},
		splits:   splits,
		threads:  max(1, threads),
	}
	for _, s := range specs {
		if _, ok := b.releases[s.Repetition]; ok {
			continue
		}
		r := &Release{
			Spec:  s,
			Lab:   l,
			batch: b,
		}
		var err error
		if r.Corpus, r.Space, err = s.open(ctx, l); err != nil {
			return nil, err
		}
		b.releases[s.Repetition] = r
		if b.first == nil {
			b.first = r
		}
	}
	return maps.Clone(b.releases), nil // the caller forgets those it is done with
}

// open opens the text and the words of a release; of words alone there is no text.
func (s *Spec) open(ctx context.Context, l *lab.Lab) (*lab.Corpus, *lab.Space, error) {
	if s.Dataset.Name == "" {
		space, err := l.Words(ctx, s.Embedding, s.Dimension, nil)
		if err != nil {
			return nil, nil, err
		}
		return nil, lab.WholeSpace(space), nil
	}
	corpus, err := l.Corpus(ctx, s.Sample())
	if err != nil {
		return nil, nil, err
	}
	space, err := l.Space(ctx, s.Sample(), s.Embedding, s.Dimension, s.Definition().Needs)
	return corpus, space, err
}

// Fingerprints opens the data of a release and returns its fingerprints.
func (s *Spec) Fingerprints(ctx context.Context, l *lab.Lab) (lab.Fingerprints, error) {
	if s.Dataset.Name == "" {
		return l.OfWords(ctx, s.Embedding, s.Dimension, s.Definition().Needs)
	}
	f, err := l.OfText(ctx, s.Sample(), s.Embedding, s.Dimension, s.Definition().Needs)
	if err != nil {
		return nil, err
	}
	if s.Definition().Needs.Pool {
		return f, l.OfPool(ctx, s.Mechanism, s.Sample(), f)
	}
	if s.Mechanism.Outside == nil {
		return f, nil
	}
	space, err := l.Space(ctx, s.Sample(), s.Embedding, s.Dimension, mechanisms.Needs{})
	if err != nil {
		return nil, err
	}
	return f, l.OfOutside(ctx, s.Mechanism, s.Sample(), space.Space, f)
}

// textKind is which text of a release is read.
type textKind int

// The texts of a release.
const (
	originalText textKind = iota
	privatisedText
)

// once makes a value that follows from one text of a release for all measurements that
// need it: original text is that of all releases.
func once[T any](r *Release, kind textKind, key string, make_ func() (T, error)) (T, error) {
	if kind == privatisedText {
		return memo.Once(&r.shared, key, make_)
	}
	return ofPlain(r, key, make_)
}

// ofPlain makes a value that follows from plain text, for all releases.
func ofPlain[T any](r *Release, key string, make_ func() (T, error)) (T, error) {
	return memo.Once(&r.Lab.Shared, engine.MakeID(key, r.Corpus.Fingerprint), make_)
}

// Row returns the row of a query without a quantity. Of a privatised text, the
// mechanism must be built.
func (r *Release) Row(q *Query) results.Row {
	row := results.NewRow()
	row.Place = r.Place()
	p := &row.Place
	if r.Space != nil {
		p.Generated = r.Space.Generated
		p.Vocabulary = r.Space.Len()
		p.EmbeddingFingerprint = r.Space.Fingerprint()
	}
	if r.Corpus != nil {
		p.Generated = r.Corpus.Generated
		p.DatasetFingerprint = r.Corpus.Fingerprint
		p.TrainItems = len(r.Corpus.Train) + len(r.Corpus.Validation)
		p.TestItems = len(r.Corpus.Test)
	}
	p.Setting = q.Setting
	p.Model = q.Model.Name
	p.ModelParameters = q.Model.Text()
	row.GuaranteeReason = "no privatisation"
	switch b := r.batch; {
	case b.mechanism != nil:
		row.Promise = results.PromiseOf(b.mechanism.Guarantee())
		row.Unrepeatable = !b.mechanism.Repeatable()
	case b.vector != nil:
		row.Promise = results.PromiseOf(b.vector.Guarantee())
	case !r.IsBaseline():
		row.GuaranteeReason = ""
	}
	return row
}

// DescribeRedrawn gives the rows the fingerprints of the first draw of
// documents: all draws are one data set, called after it.
func (r *Release) DescribeRedrawn(ctx context.Context, rows []results.Row) error {
	if r.Documents != study.Redrawn {
		return nil
	}
	first := r.Spec
	first.Repetition = 1
	corpus, space, err := first.open(ctx, r.Lab)
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].DatasetFingerprint = "redrawn " + corpus.Fingerprint
		rows[i].EmbeddingFingerprint = "redrawn " + space.Fingerprint()
	}
	return nil
}

// Environment returns the data from which the mechanism is built.
func (r *Release) Environment(ctx context.Context) (env mechanisms.Environment, err error) {
	env.Space = r.Space.Space
	env.Seed = r.MechanismSeed()
	if c := r.Corpus; c != nil {
		env.Documents = c.Documents
		env.Train = c.TrainTexts()
		env.DataSet = c.Name
		env.Tokens = c.Clean
		env.Pool = func(name string) ([]string, error) {
			return r.Lab.PublicTextsFor(ctx, r.Sample(), name)
		}
		env.Encoder = func(name string) (sentence.Encoder, error) {
			return r.Lab.SentenceEncoder(ctx, name)
		}
		env.Outside = r.Lab.Outside(ctx, r.Sample(), r.Space.Space, r.Repetition)
	}
	if r.Definition().Needs.Thesaurus {
		env.Thesaurus, err = r.Lab.Thesaurus(r.Space.Generated)
	}
	return env, err
}

// build makes the mechanism of the batch. It is tried once in a run.
func (r *Release) build(ctx context.Context) error {
	b := r.batch
	if b.built {
		return b.failed
	}
	var err error
	if b.env, err = b.first.Environment(ctx); err != nil {
		return err
	}
	settings := r.Mechanism
	start := time.Now()
	if settings.Outside != nil && settings.Epsilon == 0 {
		settings.Epsilon = 1 // nobody knows it, and it changes nothing
	}
	if r.Definition().NewVector != nil {
		b.vector, err = mechanisms.NewVector(b.env, r.Mechanism)
	} else if b.mechanism, err = mechanisms.New(b.env, settings); err == nil {
		b.mechanism = mechanisms.KeepWords(b.mechanism, r.Kept())
		if r.Budget != "" {
			b.mechanism, err = mechanisms.OfDocument(b.mechanism, r.Policy)
		}
	}
	b.first.Took = time.Since(start)
	if ctx.Err() == nil {
		b.built = true
		b.failed = err
	}
	return err
}

// Words returns the mechanism, which must return words.
func (r *Release) Words(ctx context.Context) (*mechanisms.Mechanism, error) {
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	if r.batch.mechanism == nil {
		return nil, fmt.Errorf("%s releases vectors, not words", r.Mechanism.Mechanism)
	}
	return r.batch.mechanism, nil
}

// privatize privatises the text of all releases of the batch in one call.
func (r *Release) privatize(ctx context.Context) error {
	b := r.batch
	if b.released {
		return b.unwritten
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	start := time.Now()
	building := b.first.Took
	var err error
	if b.vector != nil {
		err = r.releaseVectors(ctx) // never per word: one repetition
	} else if err = b.privatizeText(ctx); err != nil {
		err = fmt.Errorf("privatising: %w", err)
	}
	if ctx.Err() != nil {
		return cmp.Or(err, ctx.Err())
	}
	b.released = true
	b.unwritten = err
	took := time.Since(start)
	for _, x := range b.releases {
		x.Took = (building + took) / time.Duration(len(b.releases))
	}
	b.releases = nil // each text lives as long as its release
	b.first = nil
	return err
}

func (r *Release) releaseVectors(ctx context.Context) error {
	for i, split := range r.Corpus.Splits() {
		var words int
		var err error
		if r.vectors[i], words, err = releaseVectors(ctx, r.batch.vector, r.Policy, r.Corpus.Tokens[i],
			r.RepetitionSeed().Derive(split.Name)); err != nil {
			return err
		}
		r.Tokens += words
	}
	return nil
}

// privatizeText privatises all repetitions of a batch. Splits that nothing reads
// are replaced by empty documents, so each document keeps its position and thus
// its stream.
func (b *batch) privatizeText(ctx context.Context) error {
	corpus := b.first.Corpus
	each := func(all [][]string, do func(r *Release, i int, split, text [][]string)) {
		for repetition, r := range b.releases {
			at := (repetition - 1) * len(corpus.Documents)
			for i, split := range corpus.Tokens {
				if b.splits[i] {
					do(r, i, split, all[at:at+len(split)])
				}
				at += len(split)
			}
		}
	}
	plain := make([][]string, len(corpus.Documents)*slices.Max(slices.Collect(maps.Keys(b.releases))))
	each(plain, func(_ *Release, _ int, split, text [][]string) { copy(text, split) })
	private, err := mechanisms.PrivatizeText(ctx, b.mechanism, plain, mechanisms.TextOptions{
		Policy:  b.first.Policy,
		Seed:    b.first.TextSeed(),
		Workers: b.threads,
		Aligned: true,
	})
	if err != nil {
		return err
	}
	each(private, func(r *Release, i int, split, text [][]string) {
		r.aligned[i] = text
		r.shown[i] = shown(text)
		r.Tokens += list.Sum(split, func(d []string) int { return len(d) })
	})
	return nil
}

// Text returns the privatised splits as a reader sees them; nil for those that
// no measurement of the run reads. Of a baseline it is the plain text.
func (r *Release) Text(ctx context.Context) ([3][][]string, error) {
	if r.IsBaseline() {
		return r.Corpus.Tokens, nil
	}
	err := r.privatize(ctx)
	return r.shown, err
}

// Compared are the documents of the splits that are private in a setting,
// before and after, each cut where the data set says. Aligned has the empty word for every removed one; inPlace
// is false where a mechanism from outside changed the number of tokens.
type Compared struct {
	Before, After, Aligned [][]string
	InPlace                bool
}

// Compare returns the original and the private text of a setting; "" is local.
// Of plain text it returns the splits that the study privatises in any setting.
func (r *Release) Compare(ctx context.Context, setting string) (*Compared, error) {
	splits := study.Privatizes(cmp.Or(setting, study.Local))
	if r.IsBaseline() {
		splits = r.batch.splits
	}
	return memo.Once(&r.shared, "compared "+setting, func() (*Compared, error) {
		text, err := r.Text(ctx)
		if err != nil {
			return nil, err
		}
		c := &Compared{}
		for i, yes := range splits {
			if yes {
				c.Before = append(c.Before, r.Corpus.Tokens[i]...)
				c.After = append(c.After, text[i]...)
				c.Aligned = append(c.Aligned, r.aligned[i]...)
			}
		}
		if n := r.Dataset.ComparedTokens; n > 0 {
			c.Before = metrics.Cut(c.Before, n)
			c.After = metrics.Cut(c.After, n)
			c.Aligned = metrics.Cut(c.Aligned, n)
		}
		c.InPlace = !r.IsBaseline() &&
			slices.EqualFunc(c.Before, c.Aligned, func(before, after []string) bool {
				return len(before) == len(after)
			})
		return c, nil
	})
}
