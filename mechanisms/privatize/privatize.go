// Package privatize runs streams of text through a mechanism: it finds the
// words, replaces them and puts them back at their positions, in bounded memory.
//
// It counts what privatising did to the text: the words that came back unchanged
// and the epsilon spent on a line. It protects words and nothing else: the text
// between words, their number and, where it is kept, their case are copied. It
// does not remove personal data.
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

// Stream is a run over a table, or texts.
type Stream struct {
	options  Options
	splitter splitter
	summary  Summary
	record   record
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
		v, _ = embeddings.NewVocabulary(nil) // no word is there twice
	}
	kept := make(map[string]bool, len(o.Kept))
	for _, w := range o.Kept {
		kept[w] = true
	}
	return &Stream{options: o, splitter: splitter{v, kept}}, nil
}

// piece is one text: before, its words, what they become, and after.
type piece struct {
	text   string
	record uint64
	value  *table.Value // that gets the new text; nil in memory
	seed   stream.Seed
	words  []word
	output []string
	after  string
	counts counts
}

// Limits of a batch. Larger batches need fewer tables of a mechanism but more
// memory.
const (
	batchBytes  = 4 << 20
	batchPieces = 1 << 16
)

// Run privatises the rows of in and writes them to out. Rows that are already
// available are processed together, so a file is fast and a conversation is
// answered line by line. The output depends on neither the size of batches nor
// the number of workers. Every row is rewritten, or counted as one that was not.
func (s *Stream) Run(ctx context.Context, in *table.Reader, out io.Writer) error {
	g, running := errgroup.WithContext(ctx)
	read, done := make(chan []table.Row, 16), make(chan func() error)
	var failed error // of reading; earlier rows are still written
	go func() {      // not of the group: a read cannot be interrupted
		defer close(read)
		failed = pass(running, in, read)
	}()
	w := in.NewWriter(out)
	g.Go(func() error {
		defer close(done)
		for rows := gather(read); rows != nil && running.Err() == nil; rows = gather(read) {
			pieces, of := s.pieces(rows)
			if err := s.privatize(running, pieces, in.Holds); err != nil {
				return err
			}
			select {
			case done <- func() error { return s.write(w, rows, pieces, of) }:
			case <-running.Done():
			}
		}
		return context.Cause(running)
	})
	g.Go(func() error {
		for write := range done {
			if err := write(); err != nil {
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
	s.record.close(&s.summary)
	s.summary.read = in.Rows()
	return errors.Join(w.Close(), s.summary.check())
}

// pass passes on rows as they arrive, many at once where they are available.
func pass(ctx context.Context, in *table.Reader, out chan<- []table.Row) error {
	for {
		var rows []table.Row
		var err error
		for size := 0; err == nil && size < batchBytes/16 && (rows == nil || in.Waiting()); {
			var row table.Row
			if row, err = in.Next(); err == nil {
				rows, size = append(rows, row), size+row.Size
			}
		}
		if rows != nil { // what is read after the end is nil
			select {
			case out <- rows:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if err != nil {
			return err
		}
	}
}

// gather returns all rows that were read meanwhile, nil at the end.
func gather(read <-chan []table.Row) []table.Row {
	rows, size, texts, counted := <-read, 0, 0, 0
	for {
		for _, row := range rows[counted:] {
			size, texts = size+row.Size, texts+len(row.Values)
		}
		if counted = len(rows); size >= batchBytes || texts >= batchPieces {
			return rows
		}
		select {
		case more := <-read:
			if more == nil { // the end, and so is the next one
				return rows
			}
			rows = append(rows, more...)
		default:
			return rows
		}
	}
}

// pieces returns the texts of rows, which may lack some, and how many each has.
func (s *Stream) pieces(rows []table.Row) (pieces []piece, of []int) {
	for _, row := range rows {
		before := len(pieces)
		for i := range row.Values {
			if v := &row.Values[i]; !v.Null {
				pieces = append(pieces, piece{text: v.Text, record: row.Record, value: v,
					seed: s.options.Seed.At(v.Number)})
			}
		}
		of = append(of, len(pieces)-before)
	}
	return pieces, of
}

// privatize replaces texts; holds says which characters a field can hold.
func (s *Stream) privatize(ctx context.Context, pieces []piece, holds func(rune) bool) error {
	if s.options.Texts != nil {
		return s.rewrite(ctx, pieces, holds)
	}
	err := s.parallel(ctx, pieces, func(p *piece) {
		p.words = s.splitter.words(make([]word, 0, len(p.text)/5+1), p.text)
	})
	if err == nil {
		err = s.replace(ctx, pieces)
	}
	if err != nil {
		return err
	}
	return s.parallel(ctx, pieces, s.render)
}

// parallel works on pieces with all workers.
func (s *Stream) parallel(ctx context.Context, pieces []piece, work func(*piece)) error {
	const each = 1024
	var g errgroup.Group
	g.SetLimit(s.options.Workers)
	for from := 0; from < len(pieces) && ctx.Err() == nil; from += each {
		g.Go(func() error {
			for i := from; i < min(len(pieces), from+each); i++ {
				work(&pieces[i])
			}
			return nil
		})
	}
	return errors.Join(g.Wait(), context.Cause(ctx))
}

// replace privatises the words of texts. All words of a record share its budget,
// if it has one, known or not: their number is visible in the output. The pieces
// of a record are never in two batches.
func (s *Stream) replace(ctx context.Context, pieces []piece) (err error) {
	o, recorded := s.options, map[uint64]int{}
	for _, p := range pieces {
		recorded[p.record] += len(p.words)
	}
	documents, seeds := make([][]string, len(pieces)), make([]stream.Seed, len(pieces))
	var epsilons []float64
	for i, p := range pieces {
		documents[i], seeds[i] = make([]string, 0, len(p.words)), p.seed
		for _, w := range p.words {
			if !w.kept {
				documents[i] = append(documents[i], s.token(p.text, w))
			}
		}
		if o.Document != 0 {
			epsilon := o.Mechanism.Settings().Epsilon // without words it changes nothing
			if n := recorded[p.record]; n > 0 {
				epsilon = o.Document / float64(n)
			}
			if err := o.Mechanism.CheckEpsilon(epsilon); err != nil {
				return fmt.Errorf("record %d: %w", p.record+1, err)
			}
			epsilons = append(epsilons, epsilon)
		}
	}
	var output [][]string
	if o.Rewriter != nil {
		seedOf := func(i int) stream.Seed { return seeds[i] }
		output, err = mechanisms.Rewrite(ctx, o.Rewriter, documents, seedOf, o.Workers)
	} else {
		output, err = mechanisms.PrivatizeText(ctx, o.Mechanism, documents, mechanisms.TextOptions{
			Policy: o.Policy, Seeds: seeds, Workers: o.Workers, Epsilons: epsilons,
		})
	}
	for i := range output {
		pieces[i].output = output[i]
	}
	return err
}

// requestBytes is the size of the texts of a request from which on no more are
// added.
const requestBytes = 1 << 16

// rewrite sends texts, as they are, to a command of whole texts; empty ones are
// not sent. What a field cannot hold of an answer becomes a space.
func (s *Stream) rewrite(ctx context.Context, pieces []piece, holds func(rune) bool) error {
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(s.options.Workers)
	for from, to := 0, 0; from < len(pieces); from = to {
		var texts []string
		var seeds []stream.Seed
		var sent []*piece
		for size := 0; to < len(pieces) && (size == 0 || size < requestBytes); to++ {
			if p := &pieces[to]; strings.TrimSpace(p.text) == "" {
				p.after = p.text
			} else {
				texts, seeds, sent, size = append(texts, p.text), append(seeds, p.seed), append(sent, p), size+len(p.text)
			}
		}
		g.Go(func() error {
			after, err := s.options.Texts(running, texts, seeds)
			for i, text := range after {
				if strings.ContainsFunc(text, func(r rune) bool { return !holds(r) }) {
					text = strings.Join(strings.Fields(text), " ")
				}
				sent[i].after = text
				sent[i].counts.texts++
				if text == texts[i] {
					sent[i].counts.copied++
				}
			}
			return err
		})
	}
	return g.Wait()
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

// write writes rows with their new texts and counts them; of are the numbers of
// their pieces.
func (s *Stream) write(w table.Writer, rows []table.Row, pieces []piece, of []int) error {
	for n, row := range rows {
		s.record.open(row, &s.summary)
		for _, p := range pieces[:of[n]] {
			p.value.Text = p.after
			s.summary.add(p.counts)
			s.record.words += len(p.words) + int(p.counts.texts)
			s.record.known += int(p.counts.known)
		}
		if err := w.Write(row); err != nil {
			return err
		}
		pieces = pieces[of[n]:]
	}
	return w.Flush()
}

// Texts privatises texts in memory with the built-in mechanism, each with its
// seed, as Run does the fields of a table, and counts their words.
func (s *Stream) Texts(ctx context.Context, texts []string, seeds []stream.Seed) (after []string, sum Summary,
	err error) {
	pieces := make([]piece, len(texts))
	for i, t := range texts {
		pieces[i] = piece{text: t, record: uint64(i), seed: seeds[i]}
	}
	if err := s.privatize(ctx, pieces, nil); err != nil {
		return nil, sum, err
	}
	for _, p := range pieces {
		after = append(after, p.after)
		sum.add(p.counts)
	}
	return after, sum, nil
}
