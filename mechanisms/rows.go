package mechanisms

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// rowKey identifies a row: the output distribution of a word at an ε.
type rowKey struct {
	word    WordID
	epsilon float64
}

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

// rowSampler draws words from rows of type R. A row is a function of its key
// alone, so it does not matter which rows are kept, dropped or computed twice.
type rowSampler[R any] interface {
	// ownEpsilon is the ε of the instance; rows are kept for this ε only.
	ownEpsilon() float64
	// random draws all that one word needs.
	random(rng *rand.Rand) wordRandom
	// kept returns the row of a word at the instance's ε, or nil.
	kept(word WordID) *R
	// rowsAtOnce is the best number of rows to compute together.
	rowsAtOnce() int
	// builder returns scratch space for one goroutine; release returns it to
	// the pool.
	builder() rowBuilder[R]
	release(rowBuilder[R])
	choose(row *R, key rowKey, random wordRandom) WordID
}

// rowBuilder computes at most rowsAtOnce rows and passes them to use in order,
// each valid until use returns. It may keep rows of the instance's ε.
type rowBuilder[R any] interface {
	build(keys []rowKey, use func(i int, row *R))
}

// groupWords bounds the words that wait for their rows at once, give or take
// one document.
const groupWords = 1 << 20

// occurrence is one word of a batch that waits for its row.
type occurrence struct {
	key    rowKey
	random wordRandom
	output *WordID
}

// drawRows draws for all words in document order. Words whose row is cached are
// done at once; the others are grouped by word, so a corpus costs one row per
// distinct word however little memory there is for rows.
func drawRows[R any](ctx context.Context, m rowSampler[R], documents []Document, workers int) error {
	for len(documents) > 0 {
		end, words := 0, 0
		for end < len(documents) && words < groupWords {
			words += len(documents[end].Words)
			end++
		}
		waiting, err := drawKept(ctx, m, documents[:end], words, workers)
		if err == nil {
			err = drawWaiting(ctx, m, waiting, workers)
		}
		if err != nil {
			return err
		}
		documents = documents[end:]
	}
	return nil
}

// drawKept draws the random numbers of documents and the words whose rows are
// cached. It returns the other words.
func drawKept[R any](ctx context.Context, m rowSampler[R], documents []Document, words, workers int) ([]occurrence,
	error) {
	own := m.ownEpsilon()
	part := func(documents []Document) []occurrence {
		var waiting []occurrence
		for _, x := range documents {
			for i, w := range x.Words {
				o := occurrence{key: rowKey{w, x.Epsilon}, random: m.random(x.Rand)}
				if x.Epsilon == own {
					if row := m.kept(w); row != nil {
						x.Words[i] = m.choose(row, o.key, o.random)
						continue
					}
				}
				o.output = &x.Words[i]
				waiting = append(waiting, o)
			}
		}
		return waiting
	}
	if workers == 1 {
		return part(documents), ctx.Err()
	}
	// More parts than workers, because documents differ in length.
	share := words/(4*workers) + 1
	bounds, words := []int{0}, 0
	for i, x := range documents {
		if words += len(x.Words); words >= share || i == len(documents)-1 {
			bounds, words = append(bounds, i+1), 0
		}
	}
	parts := make([][]occurrence, len(bounds)-1)
	var g errgroup.Group
	g.SetLimit(workers)
	for i := range parts {
		g.Go(func() error {
			parts[i] = part(documents[bounds[i]:bounds[i+1]])
			return ctx.Err()
		})
	}
	err := g.Wait()
	return slices.Concat(parts...), err
}

// drawWaiting computes each missing row once and draws its words.
func drawWaiting[R any](ctx context.Context, m rowSampler[R], all []occurrence, workers int) error {
	if len(all) == 0 {
		return ctx.Err()
	}
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.key.word, b.key.word), cmp.Compare(a.key.epsilon, b.key.epsilon))
	})
	var groups []int // start of each run of equal keys, and the end
	for i := range all {
		if i == 0 || all[i].key != all[i-1].key {
			groups = append(groups, i)
		}
	}
	groups = append(groups, len(all))
	atOnce := m.rowsAtOnce()
	var next atomic.Int64
	work := func() error {
		b := m.builder()
		defer m.release(b)
		keys := make([]rowKey, 0, atOnce)
		for {
			end := int(next.Add(int64(atOnce)))
			start := end - atOnce
			if start >= len(groups)-1 {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			bounds := groups[start : min(end, len(groups)-1)+1]
			keys = keys[:0]
			for _, i := range bounds[:len(bounds)-1] {
				keys = append(keys, all[i].key)
			}
			b.build(keys, func(i int, row *R) {
				for _, o := range all[bounds[i]:bounds[i+1]] {
					*o.output = m.choose(row, o.key, o.random)
				}
			})
		}
	}
	if workers == 1 {
		return work()
	}
	var g errgroup.Group
	for range workers {
		g.Go(work)
	}
	return g.Wait()
}
