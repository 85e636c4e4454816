package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
	"mldpbench/internal/stats"
)

// Scores describes a mechanism that draws y with Pr[y | word] ∝ e^{score of y}, such
// as the exponential mechanism: its scores are ε/2 times a utility of sensitivity
// 1. Its probabilities are known, tabulated once per distinct word and sampled in
// O(1). Decay is for scores that fall with a cost.
type Scores struct {
	Vocabulary *embeddings.Vocabulary // of inputs and outputs
	// Basis has the numbers that scores start from; nil where they need none.
	Basis *Basis
	// Of returns the scores of a word's outputs, up to a constant, and the outputs,
	// where nil stands for words 0 … len(scores)−1. It may overwrite and return row,
	// which holds the word's row of the basis or, without one, as many numbers of no
	// meaning as the vocabulary has words.
	Of func(word WordID, row []float64) (scores []float64, outputs []WordID)

	decay *Decay // that Of follows; nil
}

// ByScores makes a mechanism of scores, at the ε of s.
func ByScores(s Settings, g Guarantee, x Scores) *Mechanism {
	m := &Mechanism{
		settings:   s,
		guarantee:  g,
		vocabulary: x.Vocabulary,
		row:        x.logRow,
		rows:       x.rows,
	}
	if x.decay != nil && x.Basis.columns() > fullWords {
		m.sampler = newHeadTail(*x.decay)
	} else {
		m.sampler = newTables(x)
	}
	return m
}

// start fills the rows that the scores of at most kernel.PairRows words start from;
// the i-th has the columns from i·stride on.
func (x *Scores) start(buffer []float64, words ...WordID) (rows []float64, stride, columns int) {
	if x.Basis == nil {
		columns = x.Vocabulary.Len()
		return resize(buffer, kernel.PairRows*columns), columns, columns
	}
	rows, stride = x.Basis.rows(buffer, words...)
	return rows, stride, x.Basis.columns()
}

// rows evaluates the closed form in float64. The rows of the basis are made
// together.
func (x *Scores) rows(words []WordID) (out [][]float64) {
	for together := range slices.Chunk(words, kernel.PairRows) {
		rows, stride, columns := x.start(nil, together...)
		for i, w := range together {
			p, outputs := x.Of(w, rows[i*stride:i*stride+columns:(i+1)*stride])
			stats.Softmax(p, p)
			if outputs != nil {
				full := make([]float64, x.Vocabulary.Len())
				for j, y := range outputs {
					full[y] += p[j]
				}
				p = full
			}
			out = append(out, p)
		}
	}
	return out
}

// logRow evaluates the closed form in logarithms, which do not underflow.
func (x *Scores) logRow(dst []float64, word WordID) {
	row, _, columns := x.start(nil, word)
	scores, outputs := x.Of(word, row[:columns])
	normalizer := floats.LogSumExp(scores)
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	for i, s := range scores {
		y := i
		if outputs != nil {
			y = int(outputs[i])
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
	var impossible []int
	for i, s := range scores {
		if math.IsInf(s, -1) {
			impossible = append(impossible, i)
		}
	}
	stats.Softmax(scores, scores)
	for i, p := range scores {
		scores[i] = max(p, leastProbability)
	}
	for _, i := range impossible {
		scores[i] = 0
	}
}

// tables draws from an alias table of all outputs of a word.
type tables struct {
	Scores
	made *rowCache[aliasTable]
}

func newTables(x Scores) *tables {
	return &tables{x, newRowCache[aliasTable](x.Vocabulary.Len(), rowMemory)}
}

func (m *tables) whole() bool { return true }

func (m *tables) draw(ctx context.Context, documents []document, workers int) error {
	return drawRows(ctx, m, documents, workers)
}

func (m *tables) random(rng *rand.Rand) wordRandom                    { return drawRandom(rng, 1) }
func (m *tables) kept(w WordID) *aliasTable                           { return m.made.get(w) }
func (m *tables) rowsAtOnce() int                                     { return kernel.PairRows }
func (m *tables) builder() rowBuilder[aliasTable]                     { return &tableBuilder{m: m} }
func (m *tables) release(rowBuilder[aliasTable])                      {}
func (m *tables) choose(t *aliasTable, _ WordID, r wordRandom) WordID { return t.draw(r[0]) }

// tableBuilder is one goroutine's scratch space for tables.
type tableBuilder struct {
	m       *tables
	rows    []float64 // see Scores.start
	alias   aliasBuilder
	scratch aliasTable
}

// build keeps the tables as long as there is room.
func (b *tableBuilder) build(words []WordID, use func(i int, t *aliasTable)) {
	rows, stride, columns := b.m.start(b.rows, words...)
	b.rows = rows
	for i, w := range words {
		row := rows[i*stride : i*stride+columns : (i+1)*stride]
		if !b.m.made.hasRoom() {
			b.table(&b.scratch, w, row)
			use(i, &b.scratch)
			continue
		}
		t := new(aliasTable)
		b.table(t, w, row)
		b.m.made.keep(w, t, t.bytes())
		use(i, t)
	}
}

// table makes the table of a word from its row of the basis.
func (b *tableBuilder) table(t *aliasTable, word WordID, row []float64) {
	p, outputs := b.m.Of(word, row)
	probabilities(p)
	b.alias.build(t, p)
	t.words = outputs
}
