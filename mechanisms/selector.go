package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// selector is the selection family: the output distribution of every word is
// known in closed form, tabulated once per distinct word and sampled in O(1).
// Where weights fall with distance and the vocabulary is large, see
// distanceSelector.
type selector struct {
	epsilon    float64
	vocabulary *embeddings.Vocabulary
	basis      *basis // nil where scores do not depend on vectors
	// scores gives the logarithms of the weights of word's outputs, up to a
	// constant. The outputs are the ids returned, nil meaning words 0 …
	// len(scores)−1. It may use and return row, which holds the word's row of
	// the basis; without a basis, row is as long as the vocabulary.
	scores func(word WordID, epsilon float64, row []float64) (scores []float64, ids []WordID)
	tables *rowCache[aliasTable] // of the instance's own epsilon
}

// newSelector makes a mechanism of scores.
func newSelector(s Settings, g Guarantee, v *embeddings.Vocabulary, b *basis,
	scores func(WordID, float64, []float64) ([]float64, []WordID)) *Mechanism {
	x := &selector{epsilon: s.Epsilon, vocabulary: v, basis: b, scores: scores,
		tables: newRowCache[aliasTable](v.Len(), rowMemory)}
	return &Mechanism{settings: s, guarantee: g, vocabulary: v, sampler: x, row: x.row, rows: x.rows}
}

func (m *selector) whole() bool { return true }

func (m *selector) draw(ctx context.Context, documents []Document, workers int) error {
	return drawRows(ctx, m, documents, workers)
}

// basisRows fills the rows that the scores of at most kernel.PairRows words
// start from; the i-th begins at i·stride.
func (m *selector) basisRows(buffer []float64, words ...WordID) (rows []float64, stride int) {
	if m.basis == nil {
		stride = m.vocabulary.Len()
		return resize(buffer, kernel.PairRows*stride), stride
	}
	return m.basis.rows(buffer, words...)
}

// rows evaluates the closed form in float64. The rows of the basis are made
// together.
func (m *selector) rows(words []WordID) (out [][]float64) {
	for together := range slices.Chunk(words, kernel.PairRows) {
		rows, stride := m.basisRows(nil, together...)
		for i, w := range together {
			p, ids := m.scores(w, m.epsilon, rows[i*stride:(i+1)*stride:(i+1)*stride])
			softmax(p)
			if ids != nil {
				full := make([]float64, m.vocabulary.Len())
				for j, id := range ids {
					full[id] += p[j]
				}
				p = full
			}
			out = append(out, p)
		}
	}
	return out
}

// row evaluates the closed form in logarithms, which do not underflow.
func (m *selector) row(dst []float64, word WordID) {
	row, _ := m.basisRows(nil, word)
	scores, ids := m.scores(word, m.epsilon, row)
	normalizer := floats.LogSumExp(scores)
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	for i, s := range scores {
		y := i
		if ids != nil {
			y = int(ids[i])
		}
		dst[y] = s - normalizer
	}
}

// leastProbability is the least probability of a possible output in a table, so
// none becomes impossible by underflow.
const leastProbability = 0x1p-50

// probabilities turns log-weights into probabilities in place. No possible
// output gets less than leastProbability, so the sum may exceed 1 by
// leastProbability per output.
func probabilities(scores []float64) {
	top := slices.Max(scores)
	var sum float64
	for i, s := range scores {
		scores[i] = -1
		if !math.IsInf(s, -1) {
			scores[i] = math.Exp(s - top)
			sum += scores[i]
		}
	}
	for i, p := range scores {
		if p < 0 {
			scores[i] = 0
		} else {
			scores[i] = max(p/sum, leastProbability)
		}
	}
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

func (m *selector) ownEpsilon() float64                                 { return m.epsilon }
func (m *selector) random(rng *rand.Rand) wordRandom                    { return drawRandom(rng, 1) }
func (m *selector) kept(w WordID) *aliasTable                           { return m.tables.get(w) }
func (m *selector) rowsAtOnce() int                                     { return kernel.PairRows }
func (m *selector) builder() rowBuilder[aliasTable]                     { return &tableBuilder{m: m} }
func (m *selector) release(rowBuilder[aliasTable])                      {}
func (m *selector) choose(t *aliasTable, _ rowKey, r wordRandom) WordID { return t.draw(r[0]) }

// tableBuilder is one goroutine's scratch space for tables.
type tableBuilder struct {
	m       *selector
	rows    []float64 // see basisRows
	alias   aliasBuilder
	scratch aliasTable
	words   []WordID
}

func (b *tableBuilder) build(keys []rowKey, use func(i int, t *aliasTable)) {
	b.words = b.words[:0]
	for _, k := range keys {
		b.words = append(b.words, k.word)
	}
	rows, stride := b.m.basisRows(b.rows, b.words...)
	b.rows = rows
	for i, key := range keys {
		t := &b.scratch
		kept := key.epsilon == b.m.epsilon && b.m.tables.hasRoom()
		if kept {
			t = new(aliasTable)
		}
		b.table(t, key, rows[i*stride:(i+1)*stride])
		if kept {
			b.m.tables.keep(key.word, t, t.bytes())
		}
		use(i, t)
	}
}

func (b *tableBuilder) table(t *aliasTable, key rowKey, row []float64) {
	p, ids := b.m.scores(key.word, key.epsilon, row)
	probabilities(p)
	b.alias.build(t, p)
	t.words = ids
}
