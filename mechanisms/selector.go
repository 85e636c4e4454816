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
)

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
	rows   rowCache // of the instance's own epsilon
}

func newSelector(s Settings, g Guarantee, v *embeddings.Vocabulary, scores func(WordID, float64, []float64) ([]float64, []WordID)) *selector {
	return &selector{
		settings: s, guarantee: g, vocabulary: v, scores: scores,
		rows: rowCache{slots: make([]atomic.Pointer[cachedRow], v.Len())},
	}
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

// LogBounds is the closed form in logarithms, which do not underflow.
func (m *selector) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return nil, nil, err
	}
	logs := make([]float64, m.vocabulary.Len())
	for i := range logs {
		logs[i] = math.Inf(-1)
	}
	scores, ids := m.scores(word, m.settings.Epsilon, make([]float64, m.vocabulary.Len()))
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
	b.build(m, &row.aliasTable, key)
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
				table := m.groupTable(run[0].key, &b, &scratch)
				for _, o := range run {
					*o.output = table.draw(o.random)
				}
			}
		})
	}
	return g.Wait()
}

// groupTable is row for one pass over many words: once there is no room, new
// tables do not push out old ones but are built in scratch.
func (m *selector) groupTable(key rowKey, b *rowBuilder, scratch *aliasTable) *aliasTable {
	keep := key.epsilon == m.settings.Epsilon
	if keep {
		if t := m.rows.get(key.word); t != nil {
			return t
		}
	}
	if keep && m.rows.hasRoom() {
		row := new(cachedRow)
		b.build(m, &row.aliasTable, key)
		m.rows.offer(key.word, row)
		return &row.aliasTable
	}
	b.build(m, scratch, key)
	return scratch
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
