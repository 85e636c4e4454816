package mechanisms

import (
	"cmp"
	"container/list"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
)

// rowMemory bounds the alias tables one selector keeps, in bytes.
const rowMemory = 256 << 20

// selector is the selection family: the output distribution of every word is
// known in closed form, tabulated once per distinct word and sampled in O(1).
// A table is a function of (word, ε) alone, so it does not matter which
// tables are kept, dropped or built twice.
type selector struct {
	settings   Settings
	guarantee  Guarantee
	vocabulary *embeddings.Vocabulary
	// scores gives the logarithms of the weights of word's outputs, up to a
	// constant. The outputs are the ids returned, nil meaning words
	// 0 … len(scores)−1. It may use and return buffer.
	scores func(word WordID, epsilon float64, buffer []float64) (scores []float64, ids []WordID)
	rows   rowCache
}

func (m *selector) Settings() Settings                 { return m.settings }
func (m *selector) Guarantee() Guarantee               { return m.guarantee }
func (m *selector) Vocabulary() *embeddings.Vocabulary { return m.vocabulary }

// Distribution is the closed form, evaluated in float64.
func (m *selector) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return Distribution{}, err
	}
	full := make([]float64, m.vocabulary.Len())
	p, ids := m.scores(word, m.settings.Epsilon, make([]float64, m.vocabulary.Len()))
	softmax(p)
	if ids == nil {
		copy(full, p)
	}
	for i, id := range ids {
		full[id] += p[i]
	}
	return Distribution{Probabilities: full}, nil
}

// softmax turns log-weights into probabilities in place.
func softmax(scores []float64) {
	top := slices.Max(scores)
	var sum float64
	for i, s := range scores {
		scores[i] = math.Exp(s - top)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

// Privatize draws one 64-bit number per word.
func (m *selector) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	for i, w := range src {
		epsilon := m.settings.Epsilon
		if epsilons != nil {
			epsilon = epsilons[i]
		}
		dst[i] = m.row(rowKey{w, epsilon}).draw(rng.Uint64())
	}
}

func (m *selector) row(key rowKey) *aliasTable {
	return m.rows.get(key, func() *aliasTable {
		var b rowBuilder
		t := new(aliasTable)
		b.build(m, t, key)
		return t
	})
}

// PrivatizeBatch builds the table of every distinct word once.
func (m *selector) PrivatizeBatch(dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	// Only a cancelled context can fail.
	_ = m.privatizeGrouped(context.Background(), dst, src, epsilons, rngs, 1)
}

// occurrence is one word of a batch that waits for its table.
type occurrence struct {
	key    rowKey
	random uint64
	output *WordID
}

// privatizeGrouped draws for all words in document order, then groups the
// draws by word, so that a corpus costs one table per distinct word however
// little memory there is for tables.
func (m *selector) privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand, workers int) error {
	words := 0
	for _, document := range src {
		words += len(document)
	}
	all := make([]occurrence, 0, words)
	for d, document := range src {
		for i, w := range document {
			all = append(all, occurrence{rowKey{w, tokenEpsilon(m.settings.Epsilon, epsilons, d, i)}, rngs[d].Uint64(), &dst[d][i]})
		}
	}
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(cmp.Compare(a.key.word, b.key.word), cmp.Compare(a.key.epsilon, b.key.epsilon))
	})
	var groups []int // start of each run of equal keys
	for i := range all {
		if i == 0 || all[i].key != all[i-1].key {
			groups = append(groups, i)
		}
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			var b rowBuilder
			var scratch aliasTable
			for {
				i := int(next.Add(1)) - 1
				if i >= len(groups) {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				end := len(all)
				if i+1 < len(groups) {
					end = groups[i+1]
				}
				run := all[groups[i]:end]
				table := m.rows.peek(run[0].key)
				if table == nil {
					table = &scratch
					if m.rows.hasRoom() {
						table = new(aliasTable)
					}
					b.build(m, table, run[0].key)
					if table != &scratch {
						m.rows.offer(run[0].key, table)
					}
				}
				for _, o := range run {
					*o.output = table.draw(o.random)
				}
			}
		})
	}
	return g.Wait()
}

// rowBuilder is one worker's scratch space for tables.
type rowBuilder struct {
	scores []float64
	alias  aliasBuilder
}

func (b *rowBuilder) build(m *selector, t *aliasTable, key rowKey) {
	b.scores = resize(b.scores, m.vocabulary.Len())
	p, ids := m.scores(key.word, key.epsilon, b.scores)
	softmax(p)
	b.alias.build(t, p)
	t.words = ids
}

// rowKey names a table.
type rowKey struct {
	word    WordID
	epsilon float64
}

// rowCache keeps the most recently used tables within rowMemory.
type rowCache struct {
	mu     sync.Mutex
	bytes  int
	recent list.List // of *cachedRow, most recent first
	byKey  map[rowKey]*list.Element
}

type cachedRow struct {
	key   rowKey
	table *aliasTable
}

// peek returns a table that is there, else nil.
func (c *rowCache) peek(key rowKey) *aliasTable {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.recent.MoveToFront(e)
	return e.Value.(*cachedRow).table
}

// get returns the table of a key and builds it, outside the lock, where it is
// missing; two callers may build the same table, and both are right.
func (c *rowCache) get(key rowKey, build func() *aliasTable) *aliasTable {
	if t := c.peek(key); t != nil {
		return t
	}
	t := build()
	c.offer(key, t)
	return t
}

func (c *rowCache) hasRoom() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes < rowMemory
}

// offer keeps a table and drops the ones unused for longest.
func (c *rowCache) offer(key rowKey, t *aliasTable) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[rowKey]*list.Element{}
	}
	if c.byKey[key] != nil {
		return
	}
	c.byKey[key] = c.recent.PushFront(&cachedRow{key, t})
	c.bytes += t.bytes()
	for c.bytes > rowMemory && c.recent.Len() > 1 {
		old := c.recent.Remove(c.recent.Back()).(*cachedRow)
		delete(c.byKey, old.key)
		c.bytes -= old.table.bytes()
	}
}
