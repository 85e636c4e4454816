package mechanisms

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// selector is the selection family: the output distribution of every word is
// known in closed form, tabulated once per distinct word and sampled in O(1).
// A table is a function of (word, ε) alone, so it does not matter which
// tables are kept, dropped or built twice.
type selector struct {
	settings   Settings
	guarantee  Guarantee
	vocabulary *embeddings.Vocabulary
	basis      *basis // nil where scores do not depend on vectors
	// scores gives the logarithms of the weights of word's outputs, up to a
	// constant. The outputs are the ids returned, nil meaning words
	// 0 … len(scores)−1. It may use and return row, which holds the word's row
	// of the basis; without one, it is as long as the vocabulary.
	scores func(word WordID, epsilon float64, row []float64) (scores []float64, ids []WordID)
	rows   rowCache // of the instance's own epsilon
}

func newSelector(s Settings, g Guarantee, v *embeddings.Vocabulary, b *basis, scores func(WordID, float64, []float64) ([]float64, []WordID)) *selector {
	return &selector{
		settings: s, guarantee: g, vocabulary: v, basis: b, scores: scores,
		rows: rowCache{slots: make([]atomic.Pointer[cachedRow], v.Len())},
	}
}

func (m *selector) Settings() Settings                 { return m.settings }
func (m *selector) Guarantee() Guarantee               { return m.guarantee }
func (m *selector) Vocabulary() *embeddings.Vocabulary { return m.vocabulary }

// basisRows fills the rows that the scores of at most kernel.PairRows words
// start from; the i-th begins at i·stride.
func (m *selector) basisRows(buffer []float64, words ...WordID) (rows []float64, stride int) {
	if m.basis == nil {
		stride = m.vocabulary.Len()
		return resize(buffer, kernel.PairRows*stride), stride
	}
	return m.basis.rows(buffer, words...)
}

func (m *selector) scoresOf(word WordID) ([]float64, []WordID) {
	row, _ := m.basisRows(nil, word)
	return m.scores(word, m.settings.Epsilon, row)
}

// Distribution is the closed form, evaluated in float64.
func (m *selector) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return Distribution{}, err
	}
	full := make([]float64, m.vocabulary.Len())
	p, ids := m.scoresOf(word)
	softmax(p)
	if ids == nil {
		copy(full, p)
	}
	for i, id := range ids {
		full[id] += p[i]
	}
	return Distribution{Probabilities: full}, nil
}

// LogBounds is the closed form in logarithms, which do not underflow.
func (m *selector) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return nil, nil, err
	}
	logs := make([]float64, m.vocabulary.Len())
	for i := range logs {
		logs[i] = math.Inf(-1)
	}
	scores, ids := m.scoresOf(word)
	normalizer := floats.LogSumExp(scores)
	for i, s := range scores {
		y := i
		if ids != nil {
			y = int(ids[i])
		}
		logs[y] = s - normalizer
	}
	return logs, logs, nil
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

// row returns the table of a word, built at need. Tables of other epsilons
// than the instance's are not kept.
func (m *selector) row(key rowKey) *aliasTable {
	if key.epsilon == m.settings.Epsilon {
		if t := m.rows.get(key.word); t != nil {
			return t
		}
	}
	var b rowBuilder
	row := new(cachedRow)
	b.rows, _ = m.basisRows(nil, key.word)
	b.build(m, &row.aliasTable, key, b.rows)
	if key.epsilon == m.settings.Epsilon {
		m.rows.offer(key.word, row)
	}
	return &row.aliasTable
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
	var groups []int // start of each run of equal keys, and the end
	for i := range all {
		if i == 0 || all[i].key != all[i-1].key {
			groups = append(groups, i)
		}
	}
	groups = append(groups, len(all))
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for range workers {
		g.Go(func() error {
			var b rowBuilder
			var scratch aliasTable
			for {
				end := int(next.Add(kernel.PairRows))
				start := end - kernel.PairRows
				if start >= len(groups)-1 {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				m.drawGroups(all, groups[start:min(end, len(groups)-1)+1], &b, &scratch)
			}
		})
	}
	return g.Wait()
}

// drawGroups draws for at most kernel.PairRows runs of equal keys: the i-th is
// all[bounds[i]:bounds[i+1]].
func (m *selector) drawGroups(all []occurrence, bounds []int, b *rowBuilder, scratch *aliasTable) {
	var tables [kernel.PairRows]*aliasTable
	var words []WordID // those that need a table
	for i := range bounds[1:] {
		key := all[bounds[i]].key
		if key.epsilon == m.settings.Epsilon {
			tables[i] = m.rows.get(key.word)
		}
		if tables[i] == nil {
			words = append(words, key.word)
		}
	}
	var stride int
	if len(words) > 0 {
		b.rows, stride = m.basisRows(b.rows, words...)
	}
	row := b.rows
	for i := range bounds[1:] {
		run := all[bounds[i]:bounds[i+1]]
		table := tables[i]
		if table == nil {
			table = m.groupTable(run[0].key, b, row[:stride], scratch)
			row = row[stride:]
		}
		for _, o := range run {
			*o.output = table.draw(o.random)
		}
	}
}

// groupTable builds a table in one pass over many words: once there is no
// room, new tables do not push out old ones but are built in scratch.
func (m *selector) groupTable(key rowKey, b *rowBuilder, row []float64, scratch *aliasTable) *aliasTable {
	if key.epsilon == m.settings.Epsilon && m.rows.hasRoom() {
		kept := new(cachedRow)
		b.build(m, &kept.aliasTable, key, row)
		m.rows.offer(key.word, kept)
		return &kept.aliasTable
	}
	b.build(m, scratch, key, row)
	return scratch
}

// rowBuilder is one worker's scratch space for tables.
type rowBuilder struct {
	rows  []float64 // see basisRows
	alias aliasBuilder
}

func (b *rowBuilder) build(m *selector, t *aliasTable, key rowKey, row []float64) {
	p, ids := m.scores(key.word, key.epsilon, row)
	softmax(p)
	b.alias.build(t, p)
	t.words = ids
}

// rowKey names a table.
type rowKey struct {
	word    WordID
	epsilon float64
}
