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

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// Options are the options of a Stream.
type Options struct {
	Mechanism *mechanisms.Mechanism
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
	splitter splitter
	offset   uint64 // number of the next text: its random numbers
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
	return &Stream{options: o, splitter: splitter{v, kept}}, nil
}

// piece is one text of a batch.
type piece struct {
	text   string
	record uint64
	row    int // of the batch
	value  int // of the row
}

// batch is a number of rows being processed.
type batch struct {
	rows     []table.Row
	pieces   []piece
	bytes    int
	holds    func(rune) bool // what a field can hold
	seeds    []stream.Seed   // of the pieces
	words    [][]word        // of each piece
	recorded map[uint64]int  // number of words by record
	output   [][]string      // words of each piece
	after    []string        // the new text of each piece
	counts   []counts        // of each piece
}

// Limits of a batch. Larger batches need fewer tables of a mechanism but more
// memory.
const (
	batchBytes  = 4 << 20
	batchPieces = 1 << 16
)

// add adds a row to a batch of texts that are numbered from offset.
func (s *Stream) add(b *batch, row table.Row) {
	for i, v := range row.Values {
		if !v.Null {
			b.pieces = append(b.pieces, piece{v.Text, row.Record, len(b.rows), i})
			b.seeds = append(b.seeds, s.options.Seed.At(s.offset+v.Number))
		}
	}
	b.rows, b.bytes = append(b.rows, row), b.bytes+row.Size
}

// Run privatises the rows of in and writes them to out. Rows that are already
// available are processed together, so a file is fast and a conversation is
// answered line by line. The output depends on neither the size of batches nor
// the number of workers. Every row is rewritten, or counted as one that was not.
func (s *Stream) Run(ctx context.Context, in *table.Reader, out io.Writer) error {
	g, running := errgroup.WithContext(ctx)
	rows, done := make(chan []table.Row, 16), make(chan *batch)
	var failed error // of reading; earlier rows are still written
	go func() {      // not of the group: a read cannot be interrupted
		defer close(rows)
		failed = read(running, in, rows)
	}()
	g.Go(func() error {
		defer close(done)
		for b := s.gather(rows, in); b != nil && running.Err() == nil; b = s.gather(rows, in) {
			if err := s.privatize(running, b); err != nil {
				return err
			}
			select {
			case done <- b:
			case <-running.Done():
			}
		}
		return context.Cause(running)
	})
	w := in.NewWriter(out)
	g.Go(func() error {
		for b := range done {
			if err := s.write(w, b); err != nil {
				return err
			}
		}
		return context.Cause(running)
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if !errors.Is(failed, io.EOF) {
		return errors.Join(failed, w.Flush())
	}
	s.offset += in.Numbers()
	s.spent.close(&s.summary)
	s.summary.read += in.Rows()
	return errors.Join(w.Close(), s.summary.check())
}

// read passes on rows as they arrive, many at once where they are available.
func read(ctx context.Context, in *table.Reader, out chan<- []table.Row) error {
	for {
		var rows []table.Row
		var err error
		for size := 0; err == nil && size < batchBytes/16 && (rows == nil || in.Waiting()); {
			var row table.Row
			if row, err = in.Next(); err == nil {
				rows, size = append(rows, row), size+row.Size
			}
		}
		select {
		case out <- rows:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// gather returns a batch of all rows that were read meanwhile, nil at the end.
func (s *Stream) gather(read <-chan []table.Row, in *table.Reader) *batch {
	rows, ok := <-read
	if !ok {
		return nil
	}
	b := &batch{holds: in.Holds}
	for {
		for _, row := range rows {
			s.add(b, row)
		}
		if b.bytes >= batchBytes || len(b.pieces) >= batchPieces {
			return b
		}
		select {
		case rows = <-read: // nil at the end, and so is the next batch
			if rows == nil {
				return b
			}
		default:
			return b
		}
	}
}

// privatize replaces the texts of a batch.
func (s *Stream) privatize(ctx context.Context, b *batch) error {
	b.words = make([][]word, len(b.pieces))
	b.after, b.counts = make([]string, len(b.pieces)), make([]counts, len(b.pieces))
	if s.options.Texts != nil {
		return s.rewrite(ctx, b)
	}
	err := s.parallel(ctx, len(b.pieces), func(i int) {
		text := b.pieces[i].text
		b.words[i] = s.splitter.words(make([]word, 0, len(text)/5+1), text)
	})
	if err == nil {
		err = s.sample(b)
	}
	if err == nil {
		err = s.replace(ctx, b)
	}
	if err != nil {
		return err
	}
	return s.parallel(ctx, len(b.pieces), func(i int) {
		var line strings.Builder
		s.render(&line, b, i, &b.counts[i])
		b.after[i], b.output[i] = line.String(), nil
	})
}

// parallel works on n pieces with all workers.
func (s *Stream) parallel(ctx context.Context, n int, work func(i int)) error {
	const each = 1024
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for from := 0; from < n && ctx.Err() == nil; from += each {
		g.Go(func() error {
			for i := from; i < min(n, from+each); i++ {
				work(i)
			}
			return nil
		})
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// sample counts the words of a batch by record, and calls First.
func (s *Stream) sample(b *batch) error {
	b.recorded = map[uint64]int{}
	for i, words := range b.words {
		b.recorded[b.pieces[i].record] += len(words)
	}
	var sample Sample
	for i, words := range b.words {
		if s.First == nil {
			return nil
		}
		for _, w := range words {
			if w.kept {
				continue
			}
			if w.id != embeddings.Unknown {
				sample.Known = append(sample.Known, w.id)
				sample.Share += 1 / float64(b.recorded[b.pieces[i].record])
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
	documents := make([][]string, len(b.pieces))
	for i, words := range b.words {
		documents[i] = make([]string, 0, len(words))
		for _, w := range words {
			if !w.kept {
				documents[i] = append(documents[i], s.token(b.pieces[i].text, w))
			}
		}
	}
	epsilons, err := s.epsilons(b)
	if err != nil {
		return err
	}
	o := s.options
	if o.Rewriter != nil {
		seedOf := func(i int) stream.Seed { return b.seeds[i] }
		b.output, err = mechanisms.Rewrite(ctx, o.Rewriter, documents, seedOf, o.Workers)
		return err
	}
	b.output, err = mechanisms.PrivatizeText(ctx, o.Mechanism, documents, mechanisms.TextOptions{
		Policy: o.Policy, Seeds: b.seeds, Workers: o.Workers, Epsilons: epsilons,
	})
	return err
}

// rewrite sends the texts of a batch, as they are, to a command of whole texts;
// empty ones are not sent. What a field cannot hold of an answer becomes a space.
func (s *Stream) rewrite(ctx context.Context, b *batch) error {
	if tell := s.First; tell != nil {
		s.First = nil
		if err := tell(Sample{}); err != nil {
			return err
		}
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(s.options.Workers)
	for from, to := 0, 0; from < len(b.pieces); from = to {
		var texts []string
		var seeds []stream.Seed
		var at []int
		for size := 0; to < len(b.pieces) && (size == 0 || size < requestBytes); to++ {
			if text := b.pieces[to].text; strings.TrimSpace(text) == "" {
				b.after[to] = text
			} else {
				texts, seeds = append(texts, text), append(seeds, b.seeds[to])
				at, size = append(at, to), size+len(text)
			}
		}
		g.Go(func() error {
			after, err := s.options.Texts(running, texts, seeds)
			for i, text := range after {
				if strings.ContainsFunc(text, func(r rune) bool { return !b.holds(r) }) {
					text = strings.Join(strings.Fields(text), " ")
				}
				b.after[at[i]] = text
				b.counts[at[i]].texts++
				if text == texts[i] {
					b.counts[at[i]].copied++
				}
			}
			return err
		})
	}
	return g.Wait()
}

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
		if words := b.recorded[p.record]; words > 0 {
			out[i] = s.options.Document / float64(words)
		}
		if err := s.options.Mechanism.CheckEpsilon(out[i]); err != nil {
			return nil, fmt.Errorf("record %d: %w", p.record+1, err)
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
	part := text[w.start:w.end]
	if w.kept {
		part = strings.ToLower(part)
	}
	return part
}

// write writes the rows of a batch with their new texts.
func (s *Stream) write(w table.Writer, b *batch) error {
	for i, p := range b.pieces {
		b.rows[p.row].Values[p.value].Text = b.after[i]
	}
	next := 0 // piece
	for n, row := range b.rows {
		for s.spent.begin(row, &s.summary); next < len(b.pieces) && b.pieces[next].row == n; next++ {
			s.summary.add(b.counts[next])
			s.spent.words += len(b.words[next]) + int(b.counts[next].texts)
			for _, w := range b.words[next] {
				if !w.kept && (w.id != embeddings.Unknown || s.options.Rewriter != nil) {
					s.spent.known++
				}
			}
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Texts privatises texts in memory with the built-in mechanism, each with its
// seed, as Run does the fields of a table, and counts their words.
func (s *Stream) Texts(ctx context.Context, texts []string, seeds []stream.Seed) ([]string, Summary, error) {
	b := &batch{seeds: seeds}
	for i, t := range texts {
		b.pieces = append(b.pieces, piece{text: t, record: uint64(i), row: i})
	}
	var sum Summary
	if err := s.privatize(ctx, b); err != nil {
		return nil, sum, err
	}
	for _, c := range b.counts {
		sum.add(c)
	}
	return b.after, sum, nil
}
