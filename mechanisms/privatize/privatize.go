// Package privatize runs streams of text through a mechanism: it finds the
// words, replaces them and puts them back at their positions, in bounded memory.
//
// It counts what privatising did to the text: the words that came back unchanged
// and the epsilon spent on a line. It protects words and nothing else: the text
// between words, their number and, where it is kept, their case are copied, unless a
// Layout leaves them out. It does not remove personal data.
package privatize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// Options are the options of a Stream.
type Options struct {
	// Mechanism, if made of a mechanisms.Rewriter, gets words as its vocabulary
	// spells them, and other words as they are in the text; it decides what to do
	// with these.
	Mechanism *mechanisms.Mechanism
	Policy    mechanisms.Policy // for words outside the vocabulary
	Kept      []string          // words that Mechanism, made by mechanisms.KeepWords, keeps
	// Texts is for a Rewriter of whole texts: each, as it is, counts as one word.
	Texts bool
	// Document is the epsilon of a record, which its words share evenly. 0: the
	// mechanism's own epsilon for every word.
	Document float64
	KeepCase bool        // Title and UPPER are restored
	Layout   Layout      // without KeepCase, if it is not Written
	Seed     stream.Seed // the output is a function of this, the input and the mechanism
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
	release  string // see Noise
	sample   sample
}

// New returns a Stream.
func New(o Options) *Stream {
	s := splitter{o.Mechanism.Vocabulary(), slices.Sorted(slices.Values(o.Kept))}
	return &Stream{options: o, splitter: s, seed: maphash.MakeSeed(), release: releaseOf(o),
		sample: sample{rng: o.Seed.Derive("sample").Rand()}}
}

// piece is one text with its words and what they become.
type piece struct {
	*table.Value // gets the new text
	column       string
	record       uint64
	seed         stream.Seed // of its noise
	words        []word
	output       []string // what the words become
	of           [4]int   // numbers of words of each kind
	changed      int      // known words that became another word
	cut          int      // words left out
	shape        uint64   // a hash of the layout that is kept, 0 where it is not
	marked       Marked   // words that came out again, where they have places
	pair         *Pair    // of a text that is drawn for the sample, else nil
}

// batchBytes is the size of a batch. Larger batches need fewer tables of a mechanism
// but more memory. A row weighs at least rowBytes, so that a batch is never too many.
const batchBytes, rowBytes = 1 << 20, 64

// Run privatises the rows of in and writes them to out. A batch is read and another
// written while one is privatised; rows do not wait for more than what was read meanwhile.
// The output depends on neither the size of batches nor the number of workers. Every row
// is rewritten, or counted as one that was not. Tables of several calls are the parts of
// one: the numbers of rows, on which noise depends, go on.
func (s *Stream) Run(ctx context.Context, in *table.Reader, out io.Writer) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	weight := func(r table.Row) int64 { return int64(min(batchBytes, r.Size+rowBytes*(1+len(r.Values)))) }
	ahead := semaphore.NewWeighted(2 * batchBytes)
	read := make(chan table.Row, 2*batchBytes/rowBytes) // never full
	var failed error                                    // of reading; earlier rows are still written
	var passed uint64
	go func() {
		defer close(read)
		for failed == nil {
			var row table.Row
			if row, failed = in.Next(); failed == nil {
				passed++
				failed = ahead.Acquire(ctx, weight(row))
				read <- row
			}
		}
	}()
	earlier := s.summary.Rewritten + s.summary.Wordless
	w := in.NewWriter(out)
	var writing errgroup.Group
	var next []table.Row
	size := int64(0)
	for row := range read {
		next, size = append(next, row), size+weight(row)
		if len(read) > 0 && size < batchBytes {
			continue
		}
		rows, pieces := next, []piece(nil)
		for _, row := range rows {
			for i := range row.Values {
				pieces = append(pieces,
					piece{Value: &row.Values[i], column: in.Column(i), record: earlier + row.Record})
			}
		}
		err = s.parallel(ctx, pieces, func(p *piece) {
			p.seed = s.Noise(s.options.Seed.At(p.record), p.column, p.Text)
		})
		if err = cmp.Or(err, s.privatize(ctx, pieces, in.Holds), writing.Wait()); err != nil {
			break
		}
		writing.Go(func() error { return s.write(w, rows, pieces) })
		ahead.Release(size)
		next, size = nil, 0
	}
	switch err = cmp.Or(err, writing.Wait(), ctx.Err()); {
	case err != nil:
		return err
	case !errors.Is(failed, io.EOF):
		return errors.Join(failed, w.Flush())
	}
	if written := s.summary.Rewritten + s.summary.Wordless - earlier; passed != written {
		return fmt.Errorf("%d rows were read, %d of them rewritten or without words: what was written is not whole",
			passed, written)
	}
	return w.Close()
}

// split finds the words of a text. A Rewriter decides about each.
func (s *Stream) split(p *piece) {
	switch {
	case p.Null:
	case !s.options.Texts:
		p.words = s.splitter.words(make([]word, 0, len(p.Text)/5+1), p.Text)
	case strings.TrimSpace(p.Text) != "":
		p.words = []word{{end: int32(len(p.Text)), token: p.Text}}
	}
	if n := int(s.options.Layout); n > 0 && !p.Null {
		s.fit(p, n)
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

// privatize replaces texts; holds says which characters a field can hold. All words of
// a record share its budget, if it has one, known or not: their number is visible in the
// output. The pieces of a record are never in two batches.
func (s *Stream) privatize(ctx context.Context, pieces []piece, holds func(rune) bool) error {
	if s.options.Layout > 0 && s.options.Mechanism.Outside() {
		return check.Wrong("layout fixed: a command cannot fill texts up; use --mechanism, or --layout plain")
	}
	if err := s.parallel(ctx, pieces, s.split); err != nil {
		return err
	}
	o, recorded := s.options, map[uint64]int{}
	for _, p := range pieces {
		recorded[p.record] += len(p.words)
	}
	documents, to := make([][]string, len(pieces)), mechanisms.TextOptions{Policy: o.Policy, Workers: o.Workers}
	for i, p := range pieces {
		documents[i] = list.Map(p.words, func(w word) string { return w.token })
		to.Seeds = append(to.Seeds, p.seed)
		if o.Document == 0 {
			continue
		}
		epsilon := o.Mechanism.Settings().Epsilon // without words it changes nothing
		if n := recorded[p.record]; n > 0 {
			epsilon = o.Document / float64(n)
		}
		if err := o.Mechanism.CheckEpsilon(epsilon); err != nil {
			return fmt.Errorf("record %d: %w", p.record+1, err)
		}
		to.Epsilons = append(to.Epsilons, epsilon)
	}
	output, err := mechanisms.PrivatizeText(ctx, o.Mechanism, documents, to)
	if err != nil {
		return err
	}
	for i := range output {
		pieces[i].output = output[i]
		pieces[i].pair = s.sample.draw(&pieces[i])
	}
	return s.parallel(ctx, pieces, func(p *piece) {
		if s.render(p, holds); o.Layout != Written {
			p.Text = s.splitter.plain(p.output)
		}
		if p.pair != nil {
			p.pair.Written = p.Text
		}
		p.output = nil
	})
}

// write writes rows with their new texts and counts them.
func (s *Stream) write(w table.Writer, rows []table.Row, pieces []piece) error {
	sum := &s.summary
	for _, row := range rows {
		before := *sum
		for _, p := range pieces[:len(row.Values)] {
			if sum.add(p); p.shape != 0 && !p.Null && s.options.Layout <= 0 && !s.options.Texts {
				s.Layouts.Add(p.shape, len(p.words))
			}
		}
		pieces = pieces[len(row.Values):]
		if sum.Words+sum.Filled > before.Words+before.Filled {
			sum.Rewritten++
		} else {
			sum.Wordless++
		}
		if known := sum.Known - before.Known; known > 0 {
			sum.spent, sum.most = sum.spent+1, max(sum.most, known)
		}
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// Texts privatises texts in memory as Run does the fields of a table, and counts their
// words. All noise of a text is drawn from its seed: see Noise.
func (s *Stream) Texts(ctx context.Context, texts []string, seeds []stream.Seed) (after []string, sum Summary,
	err error) {
	pieces := make([]piece, len(texts))
	for i, t := range texts {
		pieces[i] = piece{Value: &table.Value{Text: t}, record: uint64(i), seed: seeds[i]}
	}
	if err := s.privatize(ctx, pieces, nil); err != nil {
		return nil, sum, err
	}
	for _, p := range pieces {
		after = append(after, p.Text)
		sum.add(p)
	}
	return after, sum, nil
}

// Count returns how often files, the names of tables, have each word of a vocabulary that a
// mechanism over it replaces.
func Count(ctx context.Context, files []table.Options, v *embeddings.Vocabulary, kept []string) ([]int, error) {
	find := splitter{v, slices.Sorted(slices.Values(kept))}
	counts := make([]int, v.Len())
	add := func(r table.Row) error {
		for _, value := range r.Values {
			for _, w := range find.words(nil, value.Text) {
				if w.kind == known {
					counts[v.ID(w.token)]++
				}
			}
		}
		return nil
	}
	for _, file := range files {
		if err := table.Each(ctx, file.Name, file, add); err != nil {
			return nil, err
		}
	}
	if slices.Max(counts) == 0 {
		return nil, fmt.Errorf("%s: no word of it is in the vocabulary", files[0].Name)
	}
	return counts, nil
}
