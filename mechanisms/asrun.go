package mechanisms

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
)

// AsRun is what the code of Meisenbacher et al. 2024 (its replication package)
// computes, and so what its tables hold: see newAsRun and the constructors
// beside it. It differs from Released, which is the package that came later.
const AsRun Variant = "as-run"

// NeedsOf returns what the environment of a variant must hold besides the
// space: AsRun needs the corpus, whatever the mechanism.
func (d Definition) NeedsOf(v Variant) Needs {
	n := d.Needs
	n.Corpus = n.Corpus || v == AsRun
	return n
}

// train returns the texts whose words the matrix of AsRun has.
func (env Environment) train() [][]string {
	if env.Train != nil {
		return env.Train
	}
	return env.Documents
}

// runMatrix is the matrix of word vectors of the study's code: the words of the
// train texts by falling frequency are its rows 1 to V, whether the embedding
// has them or not; row 0 and the rows of words without a vector are zero and
// take part. A vector of zeros in the embedding counts as none.
type runMatrix struct {
	all     *embeddings.Space // the words of the space, then the other words of the train texts
	ranked  []WordID          // of the rows 1 to V
	covered []WordID          // those of them that have a vector, in that order
	has     []bool            // whether a word is covered
}

// ErrNoTexts is the error of a mechanism that is made from the train texts where
// there are none.
var ErrNoTexts = errors.New("needs train texts: its matrix has their words")

type runKey struct {
	documents *[]string
	count     int
}

// runMatrixOf builds the matrix once for a space and train texts, which must
// not change.
func runMatrixOf(env Environment) (*runMatrix, error) {
	train := env.train()
	if len(train) == 0 {
		return nil, ErrNoTexts
	}
	return embeddings.Derive(env.Space, runKey{&train[0], len(train)}, func() (*runMatrix, error) {
		words := embeddings.ByFrequency(train)
		if len(words) == 0 {
			return nil, errors.New("variant as-run: the train texts have no words")
		}
		all, err := env.Space.WithZeroWords(words)
		if err != nil {
			return nil, err
		}
		m := &runMatrix{all: all, has: make([]bool, all.Len())}
		for _, w := range words {
			id := all.Vocabulary.ID(w)
			m.ranked = append(m.ranked, id)
			if slices.ContainsFunc(all.Vector(id), func(x float32) bool { return x != 0 }) {
				m.has[id] = true
				m.covered = append(m.covered, id)
			}
		}
		return m, nil
	})
}

// first returns the words with a vector and the first n of those without, as
// ranked. Where equal distances go to the first row, no other row is ever among
// the n nearest.
func (m *runMatrix) first(n int) []WordID {
	var words []WordID
	for _, w := range m.ranked {
		if m.has[w] {
			words = append(words, w)
		} else if n > 0 {
			words, n = append(words, w), n-1
		}
	}
	return words
}

// origin puts row 0 before other rows.
func origin(words []WordID) []WordID { return append([]WordID{embeddings.Unknown}, words...) }

type rowsKey struct {
	matrix             *runMatrix
	first, last        WordID
	count, coordinates int
}

// space returns the rows of some words, Unknown being row 0, with the first
// coordinates only. It is built once.
func (m *runMatrix) space(words []WordID, coordinates int) (*embeddings.Space, error) {
	key := rowsKey{m, words[0], words[len(words)-1], len(words), coordinates}
	return embeddings.Derive(m.all, key, func() (*embeddings.Space, error) {
		names := make([]string, len(words))
		vectors := make([]float32, len(words)*coordinates)
		for row, w := range words {
			if w != embeddings.Unknown {
				names[row] = m.all.Vocabulary.Word(w)
				copy(vectors[row*coordinates:(row+1)*coordinates], m.all.Vector(w))
			}
		}
		v, err := embeddings.NewVocabulary(names)
		if err != nil {
			return nil, err
		}
		return embeddings.NewSpace(m.all.Name, v, coordinates, vectors)
	})
}

// asRun makes a mechanism over rows one over words. A word without a vector, or
// not of the train texts, is returned unchanged, which publishes it.
type asRun struct {
	built
	inner  Mechanism
	input  []WordID // row of each word, Unknown for a word that stays
	output []WordID // word of each row, Unknown where the input word comes back
}

// newAsRun wraps inner, a mechanism over rows. inputs are the words whose
// vectors the rows have, outputs the words that are returned for them; Unknown
// returns the input word.
func newAsRun(m *runMatrix, s Settings, g Guarantee, inner Mechanism, inputs, outputs []WordID) *asRun {
	a := &asRun{built: built{s, g, m.all.Vocabulary}, inner: inner, output: outputs,
		input: slices.Repeat([]WordID{embeddings.Unknown}, m.all.Len())}
	for row, w := range inputs {
		if w != embeddings.Unknown && m.has[w] {
			a.input[w] = WordID(row)
		}
	}
	return a
}

// CheckEpsilon calls the CheckEpsilon of the mechanism over rows.
func (m *asRun) CheckEpsilon(epsilon float64) error {
	if c, ok := m.inner.(EpsilonChecker); ok {
		return c.CheckEpsilon(epsilon)
	}
	return nil
}

func (m *asRun) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	m.PrivatizeBatch([][]WordID{dst}, [][]WordID{src}, [][]float64{epsilons}, []*rand.Rand{rng})
}

// PrivatizeBatch passes the words that have a row to the mechanism over rows,
// as if the others were absent.
func (m *asRun) PrivatizeBatch(dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	m.each(dst, src, epsilons, func(rows [][]WordID, eps [][]float64) error {
		privatizeAll(m.inner, rows, eps, rngs)
		return nil
	})
}

// each maps words to rows, lets privatize overwrite these, and maps them back.
func (m *asRun) each(dst, src [][]WordID, epsilons [][]float64, privatize func([][]WordID, [][]float64) error) error {
	rows, eps := make([][]WordID, len(src)), make([][]float64, len(src))
	for d, document := range src {
		for i, w := range document {
			if m.input[w] == embeddings.Unknown {
				continue
			}
			rows[d] = append(rows[d], m.input[w])
			if epsilons != nil && epsilons[d] != nil {
				eps[d] = append(eps[d], epsilons[d][i])
			}
		}
	}
	if err := privatize(rows, eps); err != nil {
		return err
	}
	for d, document := range src {
		next := 0
		for i, w := range document {
			y := w
			if m.input[w] != embeddings.Unknown {
				if to := m.output[rows[d][next]]; to != embeddings.Unknown {
					y = to
				}
				next++
			}
			dst[d][i] = y
		}
	}
	return nil
}

// exactAsRun is asRun over a mechanism whose probabilities are known.
type exactAsRun struct{ *asRun }

// target is the word that a row of a word's output stands for.
func (m exactAsRun) target(word WordID, row int) WordID {
	if to := m.output[row]; to != embeddings.Unknown {
		return to
	}
	return word
}

// Distribution adds up the rows of each output.
func (m exactAsRun) Distribution(word WordID) (Distribution, error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return Distribution{}, err
	}
	d := Distribution{Probabilities: make([]float64, m.vocabulary.Len())}
	if m.input[word] == embeddings.Unknown {
		d.Probabilities[word] = 1
		return d, nil
	}
	inner, err := m.inner.(Distributor).Distribution(m.input[word])
	if err != nil {
		return d, err
	}
	for row, p := range inner.Probabilities {
		d.Probabilities[m.target(word, row)] += p
	}
	d.AbsoluteError, d.Samples = inner.AbsoluteError, inner.Samples
	return d, nil
}

// LogBounds adds up the rows of each output in logarithms.
func (m exactAsRun) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return nil, nil, err
	}
	if m.input[word] == embeddings.Unknown {
		logs := certain(make([]float64, m.vocabulary.Len()), word)
		return logs, logs, nil
	}
	rowLow, rowHigh, err := m.inner.(LogBounder).LogBounds(m.input[word])
	if err != nil {
		return nil, nil, err
	}
	add := func(rows []float64) []float64 {
		logs := slices.Repeat([]float64{math.Inf(-1)}, m.vocabulary.Len())
		for row, x := range rows {
			to := &logs[m.target(word, row)]
			*to = logAdd(*to, x)
		}
		return logs
	}
	low = add(rowLow)
	if &rowLow[0] == &rowHigh[0] {
		return low, low, nil
	}
	return low, add(rowHigh), nil
}

// logAdd is ln(e^a + e^b).
func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

// tabledAsRun is exactAsRun over the selection family, which privatises a whole
// corpus at once.
type tabledAsRun struct{ exactAsRun }

func (m tabledAsRun) privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64,
	rngs []*rand.Rand, workers int) error {
	return m.each(dst, src, epsilons, func(rows [][]WordID, eps [][]float64) error {
		if epsilons == nil {
			eps = nil
		}
		return m.inner.(grouped).privatizeGrouped(ctx, rows, rows, eps, rngs, workers)
	})
}
