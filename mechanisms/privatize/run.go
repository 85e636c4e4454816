package privatize

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"mldpbench/datasets/table"
	"mldpbench/stream"
)

// batchBytes is the size of a batch. Larger batches need fewer tables of a mechanism
// but more memory. A row weighs at least rowBytes, so that a batch is never too many.
const (
	batchBytes = 1 << 20
	rowBytes   = 64
)

// Run privatises the rows of in and writes them to out. A batch is read and another
// written while one is privatised; rows do not wait for more than what was read meanwhile.
// The output depends on neither the size of batches nor the number of workers. Every row
// is rewritten, or counted as one that was not. Tables of several calls are the parts of
// one: the numbers of rows, on which noise depends, go on.
func (s *Stream) Run(ctx context.Context, in *table.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	read := newReading(in)
	if s.options.Key != nil {
		read.ids = s.ids
	}
	go read.run(ctx)
	earlier := s.summary.rows()
	w := in.NewWriter(out)
	if err := s.rewrite(ctx, read, w); err != nil {
		return err
	}
	if !errors.Is(read.failed, io.EOF) {
		return errors.Join(read.failed, w.Flush()) // earlier rows are still written
	}
	if written := s.summary.rows() - earlier; read.passed != written {
		return fmt.Errorf("%d rows were read, %d of them rewritten or without words: what was written is not whole",
			read.passed, written)
	}
	return w.Close()
}

// reading reads the rows of a table ahead of those that are privatised.
type reading struct {
	in   *table.Reader
	ids  ids // of rows of all tables so far; nil: rows have none
	rows chan table.Row
	room *semaphore.Weighted // for rows that wait, in bytes

	// Known when rows is closed.
	passed uint64 // rows that were read
	failed error  // why reading ended: io.EOF at the end
}

// newReading returns what reads two batches ahead. Its channel is never full.
func newReading(in *table.Reader) *reading {
	const ahead = 2 * batchBytes
	return &reading{
		in:   in,
		rows: make(chan table.Row, ahead/rowBytes),
		room: semaphore.NewWeighted(ahead),
	}
}

// weight is how much of a batch a row takes.
func weight(r table.Row) int64 {
	return int64(min(batchBytes, r.Size+rowBytes*(1+len(r.Values))))
}

// run reads all rows and closes the channel.
func (r *reading) run(ctx context.Context) {
	defer close(r.rows)
	for r.failed == nil {
		var row table.Row
		row, r.failed = r.in.Next()
		if r.failed == nil && r.ids != nil {
			r.failed = r.identify(row)
		}
		if r.failed != nil {
			return
		}
		r.passed++
		r.failed = r.room.Acquire(ctx, weight(row))
		r.rows <- row
	}
}

// identify returns an error for a row whose id is that of an earlier one, or empty.
func (r *reading) identify(row table.Row) error {
	if err := r.ids.add(row.ID); err != nil {
		return fmt.Errorf("%s: %w", r.in.Place(row), err)
	}
	return nil
}

// batch returns the next rows and their weight: those that are there, or as many as make a
// batch. None: all were read.
func (r *reading) batch() (rows []table.Row, size int64) {
	for row := range r.rows {
		rows = append(rows, row)
		size += weight(row)
		if len(r.rows) == 0 || size >= batchBytes {
			break
		}
	}
	return rows, size
}

// rewrite privatises rows batch by batch. It returns when all batches are written, also
// if it fails.
func (s *Stream) rewrite(ctx context.Context, read *reading, w table.Writer) error {
	var writing errgroup.Group
	failed := s.rewriteWith(ctx, read, w, &writing)
	notWritten := writing.Wait()
	if failed != nil {
		return failed
	}
	if notWritten != nil {
		return notWritten
	}
	return ctx.Err()
}

// rewriteWith is rewrite, the last batch of which writing may still write.
func (s *Stream) rewriteWith(ctx context.Context, read *reading, w table.Writer, writing *errgroup.Group) error {
	earlier := s.summary.rows()
	for {
		rows, size := read.batch()
		if len(rows) == 0 {
			return nil
		}
		var pieces []piece
		for _, row := range rows {
			for i := range row.Values {
				value := &row.Values[i]
				pieces = append(pieces, piece{
					Value:  value,
					column: read.in.Column(i),
					id:     row.ID,
					record: earlier + row.Record,
				})
			}
		}
		if err := s.privatize(ctx, pieces, s.seedOf, read.in.Holds); err != nil {
			return err
		}
		if err := writing.Wait(); err != nil {
			return err
		}
		writing.Go(func() error { return s.write(w, rows, pieces) })
		read.room.Release(size)
	}
}

// seedOf is the seed of the noise of a text.
func (s *Stream) seedOf(p *piece) stream.Seed {
	if s.options.Key != nil {
		return s.Keyed(p.column, p.id, p.Text)
	}
	return s.Noise(s.options.Seed.At(p.record), p.column, p.Text)
}

// write writes rows with their new texts and counts them.
func (s *Stream) write(w table.Writer, rows []table.Row, pieces []piece) error {
	for _, row := range rows {
		s.count(pieces[:len(row.Values)])
		pieces = pieces[len(row.Values):]
		if err := w.Write(row); err != nil {
			return err
		}
	}
	return w.Flush()
}

// count counts the texts of a row.
func (s *Stream) count(row []piece) {
	sum := &s.summary
	before := *sum
	for _, p := range row {
		sum.add(p)
		if p.shape != 0 && !p.Null && s.options.Layout <= 0 && !s.options.Texts {
			s.Layouts.Add(p.shape, len(p.words))
		}
	}
	if sum.Words+sum.Filled > before.Words+before.Filled {
		sum.Rewritten++
	} else {
		sum.Wordless++
	}
	if known := sum.Known - before.Known; known > 0 {
		sum.spent++
		sum.most = max(sum.most, known)
	}
}
