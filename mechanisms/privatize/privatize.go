// Package privatize runs streams of text through a mechanism: it finds the
// words, replaces them and puts them back at their positions, in bounded memory.
//
// It counts what privatising did to the text: the words that came back unchanged
// and the epsilon spent on a line. It protects words and nothing else: the text
// between words, their number and, where it is kept, their case are copied, unless a
// Layout leaves them out. It does not remove personal data.
package privatize

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"mldpbench/datasets/table"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Options are the options of a Stream.
type Options struct {
	// Mechanism says which words are kept: see mechanisms.KeepWords. One that is made of a
	// mechanisms.Rewriter gets words as its vocabulary spells them, and other words as
	// they are in the text; it decides what to do with these.
	Mechanism *mechanisms.Mechanism
	Policy    mechanisms.Policy // for words outside the vocabulary
	// Texts is for a Rewriter of whole texts: each, as it is, counts as one word. A mechanism
	// of documents is one.
	Texts bool
	// Document is the epsilon of a record, which its words share evenly. 0: the
	// mechanism's own epsilon for every word.
	Document float64
	KeepCase bool        // Title and UPPER are restored
	Layout   Layout      // without KeepCase, if it is not Written
	Seed     stream.Seed // the output is a function of this, the input and the mechanism
	Key      *Key        // in place of Seed: noise is that of Keyed, by the ids of the rows; nil: none
	Release  string      // name of the release, for Keyed
	Vectors  string      // fingerprint of those of the mechanism, for Noise
	Program  string      // key of the command that the mechanism is, for Noise
	Workers  int         // at least 1
}

// Stream is a run over a table, or texts.
type Stream struct {
	options  Options
	splitter splitter
	summary  Summary
	Layouts  metrics.Layouts // of the texts that keep theirs
	seed     maphash.Seed
	settings []string // see Noise and Keyed
	release  string   // see Noise
	ids      ids      // of the rows read, where there is a Key
	sample   sample
}

// New returns a Stream.
func New(o Options) *Stream {
	if o.Mechanism.Documents() != nil {
		o.Texts = true
	}
	settings := settingsOf(o)
	return &Stream{
		options:  o,
		splitter: newSplitter(o.Mechanism.Vocabulary(), o.Mechanism.Kept()),
		seed:     maphash.MakeSeed(),
		settings: settings,
		release:  releaseOf(settings),
		ids:      ids{},
		sample:   sample{rng: o.Seed.Derive("sample").Rand()},
	}
}

// piece is one text with its words and what they become.
type piece struct {
	*table.Value // gets the new text
	column       string
	id           string // of the record, where there is a Key
	record       uint64
	seed         stream.Seed // of its noise
	words        []word
	private      []mechanisms.WordID // what the words become, in their places
	rewritten    []string            // what a Rewriter makes of the words, in place of private
	of           [4]int              // numbers of words of each kind
	changed      int                 // known words that became another word
	cut          int                 // words left out
	shape        uint64              // a hash of the layout that is kept, 0 where it is not
	marked       Marked              // words that came out again, where they have places
	pair         *Pair               // of a text that is drawn for the sample, else nil
}

// split finds the words of a text. A Rewriter decides about each. A mechanism of documents
// gets a text without words too: that it had none must not show.
func (s *Stream) split(p *piece) {
	if p.Null {
		return
	}
	switch {
	case !s.options.Texts:
		p.words = s.splitter.words(make([]word, 0, len(p.Text)/5+1), p.Text)
	case strings.TrimSpace(p.Text) != "" || s.options.Mechanism.Documents() != nil:
		p.words = []word{{end: int32(len(p.Text)), token: p.Text}}
	}
	if s.options.Layout > 0 {
		s.fit(p, int(s.options.Layout))
	}
	for i := range p.words {
		if s.options.Mechanism.Outside() {
			p.words[i].kind = known
		}
		p.of[p.words[i].kind]++
	}
}

// parallel works on pieces with all workers.
func (s *Stream) parallel(ctx context.Context, pieces []piece, work func(*piece)) error {
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for part := range slices.Chunk(pieces, 1024) {
		g.Go(func() error {
			for i := range part {
				work(&part[i])
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// privatize replaces texts, each with noise of its seed; holds says which characters a
// field can hold. The pieces of a record are never in two batches.
func (s *Stream) privatize(ctx context.Context, pieces []piece, seed func(*piece) stream.Seed,
	holds func(rune) bool) error {
	if s.options.Layout > 0 && s.options.Mechanism.Outside() {
		return check.Wrong("layout fixed: what rewrites whole texts, or is a command, cannot fill them up; use a " +
			"mechanism of words, or --layout plain")
	}
	err := s.parallel(ctx, pieces, func(p *piece) {
		p.seed = seed(p)
		s.split(p)
	})
	if err != nil {
		return err
	}
	epsilons, err := s.epsilons(pieces)
	if err != nil {
		return err
	}
	to := mechanisms.TextOptions{
		Policy:   s.options.Policy,
		Seeds:    list.Map(pieces, func(p piece) stream.Seed { return p.seed }),
		Workers:  s.options.Workers,
		Epsilons: epsilons,
	}
	if err := s.replace(ctx, pieces, to); err != nil {
		return err
	}
	for i := range pieces {
		pieces[i].pair = s.sample.draw(&pieces[i])
	}
	return s.parallel(ctx, pieces, func(p *piece) { s.render(p, holds) })
}

// epsilons gives each piece the ε of its words, where a record has a budget: all words of
// a record share it, known or not, as their number is visible in the output. nil where
// every word has the mechanism's own ε.
func (s *Stream) epsilons(pieces []piece) ([]float64, error) {
	if s.options.Document == 0 {
		return nil, nil
	}
	words := map[uint64]int{} // of a record
	for i := range pieces {
		words[pieces[i].record] += len(pieces[i].words)
	}
	epsilons := make([]float64, len(pieces))
	for i := range pieces {
		record := pieces[i].record
		epsilons[i] = s.options.Mechanism.Settings().Epsilon // without words it changes nothing
		if n := words[record]; n > 0 {
			epsilons[i] = s.options.Document / float64(n)
		}
		if err := s.options.Mechanism.CheckEpsilon(epsilons[i]); err != nil {
			return nil, fmt.Errorf("record %d: %w", record+1, err)
		}
	}
	return epsilons, nil
}

// replace has the mechanism replace the words of pieces: by their ids, or, if it is made of
// a Rewriter, by their spelling.
func (s *Stream) replace(ctx context.Context, pieces []piece, to mechanisms.TextOptions) error {
	m := s.options.Mechanism
	if m.Documents() != nil {
		return s.replaceDocuments(ctx, pieces, to)
	}
	if m.Outside() {
		tokens := list.Map(pieces, func(p piece) []string {
			return list.Map(p.words, func(w word) string { return w.token })
		})
		rewritten, err := mechanisms.PrivatizeText(ctx, m, tokens, to)
		for i := range rewritten {
			pieces[i].rewritten = rewritten[i]
		}
		return err
	}
	words := list.Map(pieces, func(p piece) []mechanisms.WordID {
		return list.Map(p.words, word.input)
	})
	private, err := mechanisms.PrivatizeWords(ctx, m, words, to)
	for i := range private {
		pieces[i].private = private[i]
	}
	return err
}

// replaceDocuments has a mechanism of documents replace the texts of pieces that are not null.
func (s *Stream) replaceDocuments(ctx context.Context, pieces []piece, to mechanisms.TextOptions) error {
	var places []int
	var texts []string
	all := to.Seeds
	to.Seeds = nil
	for i, p := range pieces {
		if !p.Null {
			places = append(places, i)
			texts = append(texts, p.Text)
			to.Seeds = append(to.Seeds, all[i])
		}
	}
	if len(texts) == 0 {
		return nil
	}
	private, err := mechanisms.PrivatizeDocuments(ctx, s.options.Mechanism, texts, to)
	for i := range private {
		pieces[places[i]].rewritten = private[i : i+1]
	}
	return err
}

// Texts privatises texts in memory as Run does the fields of a table, and counts their
// words. All noise of a text is drawn from its seed: see Noise.
func (s *Stream) Texts(ctx context.Context, texts []string, seeds []stream.Seed) (after []string, sum Summary,
	err error) {
	pieces := make([]piece, len(texts))
	for i, t := range texts {
		pieces[i] = piece{Value: &table.Value{Text: t}, record: uint64(i)}
	}
	seed := func(p *piece) stream.Seed { return seeds[p.record] }
	if err := s.privatize(ctx, pieces, seed, nil); err != nil {
		return nil, sum, err
	}
	for _, p := range pieces {
		after = append(after, p.Text)
		sum.add(p)
	}
	return after, sum, nil
}
