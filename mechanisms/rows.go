package mechanisms

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// wordRandom holds the numbers that a word draws from the generator of its
// document, from the start of the array.
type wordRandom [4]uint64

// drawRandom draws n numbers of 64 bits.
func drawRandom(rng *rand.Rand, n int) (r wordRandom) {
	for i := range n {
		r[i] = rng.Uint64()
	}
	return r
}

// rowSampler draws words from rows of type R, the output distributions of words. A
// row is a function of its word alone, so it does not matter which rows are kept,
// dropped or computed twice.
type rowSampler[R any] interface {
	// random draws all that one word needs.
	random(rng *rand.Rand) wordRandom
	// kept returns the row of a word, or nil.
	kept(word WordID) *R
	// rowsAtOnce is the best number of rows to compute together.
	rowsAtOnce() int
	// builder returns scratch space for one goroutine; release takes it back.
	builder() rowBuilder[R]
	release(rowBuilder[R])
	// choose draws a word's output from its row.
	choose(row *R, word WordID, random wordRandom) WordID
}

// rowBuilder computes the rows of at most rowsAtOnce words and passes them to use in
// order, each valid until use returns. It may keep rows.
type rowBuilder[R any] interface {
	build(words []WordID, use func(i int, row *R))
}

// groupWords bounds the words that wait for their rows at once, give or take
// one document.
const groupWords = 1 << 20

// occurrence is one word of a batch that waits for its row.
type occurrence struct {
	word   WordID
	random wordRandom
	output *WordID
}

// drawRows draws for all words in document order. Words whose row is cached are
// done at once; the others are grouped by word, so a corpus costs one row per
// distinct word however little memory there is for rows.
func drawRows[R any](ctx context.Context, m rowSampler[R], documents []document, workers int) error {
	for len(documents) > 0 {
		end := 0
		words := 0
		for end < len(documents) && words < groupWords {
			words += len(documents[end].words)
			end++
		}
		waiting, err := drawKept(ctx, m, documents[:end], words, workers)
		if err != nil {
			return err
		}
		if err := drawWaiting(ctx, m, waiting, workers); err != nil {
			return err
		}
		documents = documents[end:]
	}
	return nil
}

// drawKept draws the random numbers of documents, which have so many words, and the
// words whose rows are kept. It returns the other words.
func drawKept[R any](ctx context.Context, m rowSampler[R], documents []document, words, workers int) ([]occurrence,
	error) {
	if workers == 1 {
		return drawKeptOf(m, documents), ctx.Err()
	}
	parts := divide(documents, words/(4*workers)+1) // more than workers, because documents differ in length
	waiting := make([][]occurrence, len(parts))
	var g errgroup.Group
	g.SetLimit(workers)
	for i, part := range parts {
		g.Go(func() error {
			waiting[i] = drawKeptOf(m, part)
			return ctx.Err()
		})
	}
	err := g.Wait()
	return slices.Concat(waiting...), err
}

// drawKeptOf is drawKept of one goroutine.
func drawKeptOf[R any](m rowSampler[R], documents []document) (waiting []occurrence) {
	for _, x := range documents {
		for i, w := range x.words {
			random := m.random(x.rng)
			if row := m.kept(w); row != nil {
				x.words[i] = m.choose(row, w, random)
				continue
			}
			waiting = append(waiting, occurrence{w, random, &x.words[i]})
		}
	}
	return waiting
}

// divide cuts documents into parts of so many words or more, the last apart.
func divide(documents []document, words int) (parts [][]document) {
	start := 0
	has := 0
	for i, x := range documents {
		has += len(x.words)
		if has >= words || i == len(documents)-1 {
			parts = append(parts, documents[start:i+1])
			start = i + 1
			has = 0
		}
	}
	return parts
}

// drawWaiting computes each missing row once and draws its words.
func drawWaiting[R any](ctx context.Context, m rowSampler[R], all []occurrence, workers int) error {
	if len(all) == 0 {
		return ctx.Err()
	}
	slices.SortFunc(all, func(a, b occurrence) int { return cmp.Compare(a.word, b.word) })
	var starts []int // of the occurrences of each word, and the end
	for i := range all {
		if i == 0 || all[i].word != all[i-1].word {
			starts = append(starts, i)
		}
	}
	starts = append(starts, len(all))
	var next atomic.Int64
	work := func() error { return drawOfRows(ctx, m, all, starts, &next) }
	if workers == 1 {
		return work()
	}
	var g errgroup.Group
	for range workers {
		g.Go(work)
	}
	return g.Wait()
}

// drawOfRows draws the words of some rows after others, as long as there are any;
// next counts the rows that goroutines took.
func drawOfRows[R any](ctx context.Context, m rowSampler[R], all []occurrence, starts []int, next *atomic.Int64) error {
	rows := len(starts) - 1
	atOnce := m.rowsAtOnce()
	b := m.builder()
	defer m.release(b)
	words := make([]WordID, 0, atOnce)
	for {
		end := int(next.Add(int64(atOnce)))
		first := end - atOnce
		if first >= rows {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		bounds := starts[first : min(end, rows)+1]
		words = words[:0]
		for _, i := range bounds[:len(bounds)-1] {
			words = append(words, all[i].word)
		}
		b.build(words, func(i int, row *R) {
			for _, o := range all[bounds[i]:bounds[i+1]] {
				*o.output = m.choose(row, o.word, o.random)
			}
		})
	}
}
