// Package privatize runs streams of text through a mechanism: it finds the
// words, replaces them and puts them back at their positions, in any number of
// files and in bounded memory.
//
// It tells the user, before and after, what privatising means for the text: the
// share of words that come back unchanged, the guarantee for the two words that
// differ most, and the epsilon spent on a line. It protects words and nothing
// else: the text between words, their number and, where it is kept, their case
// are copied. It does not remove personal data.
package privatize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sync/errgroup"

	"mldpbench/datasets/textio"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Options are the options of a Stream.
type Options struct {
	Mechanism mechanisms.Mechanism
	// Rewriter, if not nil, is used instead of Mechanism. It gets words as
	// Vocabulary spells them, and other words as they are in the text; it
	// decides what to do with these.
	Rewriter   mechanisms.Rewriter
	Vocabulary *embeddings.Vocabulary // with a Rewriter: used to find words; nil finds none
	// Texts, if not nil, is a command that gets each text as it is, of Rewriter: no
	// words are found or counted.
	Texts  func(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, error)
	Policy mechanisms.Policy // for words outside the vocabulary
	Kept   []string          // words that Mechanism, made by mechanisms.KeepWords, keeps
	// Document is the epsilon of a record, which its words share evenly; records
	// must then be read Whole. 0: the mechanism's own epsilon for every word.
	Document float64
	KeepCase bool        // Title and UPPER are restored
	Seed     stream.Seed // the output is a function of this, the input and the mechanism
	Workers  int
}

// Stream is a run over any number of texts, one after the other.
type Stream struct {
	options  Options
	kept     map[string]bool
	splitter splitter
	piece    uint64 // number of the next piece: its random numbers
	summary  Summary
	spent    spending
	// First is called with the first texts before any of them is written; an
	// error stops the run. It may be nil.
	First func(Sample) error
}

// Sample describes the first texts of a run.
type Sample struct {
	Known   []mechanisms.WordID // their words of the vocabulary, in order
	Unknown int                 // number of their other words
	// Share is the share of its record's budget that a word of the vocabulary has,
	// on average.
	Share float64
}

// New checks the options.
func New(o Options) (*Stream, error) {
	if err := mechanisms.CheckPolicy(o.Policy); err != nil {
		return nil, err
	}
	if err := check.AtLeast("workers", o.Workers, 1); err != nil {
		return nil, err
	}
	v := o.Vocabulary
	switch {
	case o.Mechanism != nil:
		v = o.Mechanism.Vocabulary()
	case o.Document != 0:
		return nil, errors.New("a command takes one epsilon for all words: it has no budget for a document")
	case v == nil:
		var err error
		if v, err = embeddings.NewVocabulary(nil); err != nil {
			return nil, err
		}
	}
	kept := make(map[string]bool, len(o.Kept))
	for _, w := range o.Kept {
		kept[w] = true
	}
	return &Stream{options: o, kept: kept, splitter: splitter{v}}, nil
}

// batch is a number of whole records being processed.
type batch struct {
	pieces   []textio.Piece
	bytes    int
	first    uint64         // number of pieces[0]
	seeds    []stream.Seed  // of the pieces; nil: those of the stream
	words    [][]word       // of each piece
	recorded map[uint64]int // number of words by record
	output   [][]string
	after    []string // the texts of a command of whole texts
	text     [][]byte // the output, in parts
	counts   []counts // of each part
}

// Limits of a batch. Larger batches need fewer tables of a mechanism but more
// memory.
const (
	batchBytes  = 4 << 20
	batchPieces = 1 << 16
)

// recordWords returns the number of words of the record that a piece is part of.
func (b *batch) recordWords(piece int) int { return b.recorded[b.pieces[piece].Record] }

func (b *batch) full() bool { return b.bytes >= batchBytes || len(b.pieces) >= batchPieces }

// Run privatises the text from in and writes it to out. Records that are
// already available are processed together, so a file is fast and a
// conversation is answered line by line. The output depends on neither the size
// of batches nor the number of workers.
func (s *Stream) Run(ctx context.Context, in *textio.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := make(chan *batch)
	gathered, split, replaced := make(chan *batch), make(chan *batch), make(chan *batch)
	var failed error // of reading; earlier records are still written
	var g errgroup.Group
	stage := func(do func() error) {
		g.Go(func() error {
			err := do()
			if err != nil {
				cancel(err)
			}
			return err
		})
	}
	// A read cannot be interrupted: this goroutine ends with the input.
	go func() {
		defer close(read)
		failed = s.read(ctx, in, read)
	}()
	stage(func() error { defer close(gathered); return s.gather(ctx, read, gathered) })
	stage(func() error { defer close(split); return s.each(ctx, gathered, split, s.split) })
	stage(func() error { defer close(replaced); return s.each(ctx, split, replaced, s.replace) })
	stage(func() error {
		return s.each(ctx, replaced, nil, func(ctx context.Context, b *batch) error { return s.write(ctx, b, out) })
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if !errors.Is(failed, io.EOF) {
		return failed
	}
	s.spent.close()
	return nil
}

// read passes on records as they arrive, many at once where they are available.
func (s *Stream) read(ctx context.Context, in *textio.Reader, out chan<- *batch) error {
	for {
		b := &batch{}
		var err error
		for err == nil && b.bytes < batchBytes/16 && (len(b.pieces) == 0 || in.Waiting()) {
			from := len(b.pieces)
			b.pieces, err = in.Next(b.pieces)
			for _, p := range b.pieces[from:] {
				b.bytes += len(p.Before) + len(p.Text) + len(p.After)
			}
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// gather joins batches that arrive while the next stage is busy.
func (s *Stream) gather(ctx context.Context, in <-chan *batch, out chan<- *batch) error {
	var b *batch
	for in != nil || b != nil {
		from, to := in, out
		if b == nil {
			to = nil
		} else if b.full() {
			from = nil
		}
		select {
		case more, ok := <-from:
			switch {
			case !ok:
				in = nil
			case len(more.pieces) == 0:
			case b == nil:
				b = more
			default:
				b.pieces, b.bytes = append(b.pieces, more.pieces...), b.bytes+more.bytes
			}
		case to <- b:
			b = nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// each runs one stage: it takes a batch, works on it and passes it on.
func (s *Stream) each(ctx context.Context, in <-chan *batch, out chan<- *batch,
	work func(context.Context, *batch) error) error {
	for b := range in {
		if err := work(ctx, b); err != nil {
			return err
		}
		if out == nil {
			continue
		}
		select {
		case out <- b:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// parallel cuts n pieces into parts and works on them with all workers.
func (s *Stream) parallel(ctx context.Context, n int, work func(part, from, to int) error) error {
	const each = 1024
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for part := 0; part*each < n; part++ {
		if err := ctx.Err(); err != nil {
			break
		}
		g.Go(func() error { return work(part, part*each, min(n, (part+1)*each)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// split finds the words of a batch.
func (s *Stream) split(ctx context.Context, b *batch) error {
	b.first = s.piece
	s.piece += uint64(len(b.pieces))
	b.words = make([][]word, len(b.pieces))
	if s.options.Texts != nil {
		tell := s.First
		if s.First = nil; tell != nil {
			return tell(Sample{})
		}
		return nil
	}
	err := s.parallel(ctx, len(b.pieces), func(_, from, to int) error {
		for i := from; i < to; i++ {
			text := b.pieces[i].Text
			b.words[i] = s.splitter.words(make([]word, 0, len(text)/5+1), text)
		}
		return nil
	})
	b.recorded = map[uint64]int{}
	for i, words := range b.words {
		b.recorded[b.pieces[i].Record] += len(words)
	}
	if err != nil || s.First == nil {
		return err
	}
	var sample Sample
	for i, words := range b.words {
		for _, w := range words {
			if w.id != embeddings.Unknown {
				sample.Known = append(sample.Known, w.id)
				sample.Share += 1 / float64(b.recordWords(i))
			} else {
				sample.Unknown++
			}
		}
	}
	sample.Share /= float64(max(1, len(sample.Known)))
	if len(sample.Known)+sample.Unknown == 0 {
		return nil
	}
	tell := s.First
	s.First = nil
	return tell(sample)
}

// replace privatises the words of a batch.
func (s *Stream) replace(ctx context.Context, b *batch) error {
	if s.options.Texts != nil {
		return s.rewrite(ctx, b)
	}
	documents := make([][]string, len(b.pieces))
	for i, words := range b.words {
		documents[i] = make([]string, len(words))
		for j, w := range words {
			documents[i][j] = s.token(b.pieces[i].Text, w)
		}
	}
	epsilons, err := s.epsilons(b)
	if err != nil {
		return err
	}
	o := s.options
	if o.Rewriter != nil {
		seedOf := func(i int) stream.Seed { return o.Seed.At(b.first + uint64(i)) }
		b.output, err = mechanisms.Rewrite(ctx, o.Rewriter, documents, seedOf, o.Workers)
		return err
	}
	b.output, err = mechanisms.PrivatizeText(ctx, o.Mechanism, documents, mechanisms.TextOptions{
		Policy: o.Policy, First: b.first, Seed: o.Seed, Seeds: b.seeds, Workers: o.Workers, Epsilons: epsilons,
	})
	return err
}

// rewrite sends the texts of a batch, as they are, to a command of whole texts;
// empty ones are not sent.
func (s *Stream) rewrite(ctx context.Context, b *batch) error {
	b.after = make([]string, len(b.pieces))
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(s.options.Workers)
	for from, to := 0, 0; from < len(b.pieces); from = to {
		var texts []string
		var seeds []stream.Seed
		var at []int
		for size := 0; to < len(b.pieces) && (size == 0 || size < requestBytes); to++ {
			if text := withoutEnd(b.pieces[to].Text); strings.TrimSpace(text) != "" {
				texts, seeds = append(texts, text), append(seeds, s.options.Seed.At(b.first+uint64(to)))
				at, size = append(at, to), size+len(text)
			}
		}
		g.Go(func() error {
			after, err := s.options.Texts(running, texts, seeds)
			for i, text := range after {
				b.after[at[i]] = text
			}
			return err
		})
	}
	return g.Wait()
}

// withoutEnd is a text without its line end.
func withoutEnd(text string) string { return strings.TrimRight(text, "\r\n") }

// requestBytes is the size of the texts of a request from which on no more are
// added.
const requestBytes = 1 << 16

// epsilons returns the ε of a word of each piece, nil for the mechanism's own.
// All words of a record share its budget, known or not: their number is visible
// in the output. The pieces of a record are never in two batches.
func (s *Stream) epsilons(b *batch) ([]float64, error) {
	if s.options.Document == 0 {
		return nil, nil
	}
	out := make([]float64, len(b.pieces))
	for i, p := range b.pieces {
		out[i] = s.options.Mechanism.Settings().Epsilon // without words it changes nothing
		if words := b.recordWords(i); words > 0 {
			out[i] = s.options.Document / float64(words)
		}
		if err := mechanisms.CheckEpsilon(s.options.Mechanism, out[i]); err != nil {
			return nil, fmt.Errorf("record %d: %w", p.Record+1, err)
		}
	}
	return out, nil
}

// token returns a word as the vocabulary spells it or, if unknown, as in the
// text.
func (s *Stream) token(text string, w word) string {
	if w.id != embeddings.Unknown {
		return s.splitter.vocabulary.Word(w.id)
	}
	return text[w.start:w.end]
}
