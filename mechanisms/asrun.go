package mechanisms

import (
	"crypto/sha256"
	"errors"
	"slices"

	"mldpbench/embeddings"
)

// AsRun is what the code of Meisenbacher et al. 2024 (its replication package)
// computes, and so what its tables hold: see runRows and the constructors
// over them. It differs from Released, which is the package that came later.
const AsRun Variant = "as-run"

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

// runKey is the train texts of a matrix, by content: texts read again are the
// same, and a slice used for other texts is not.
type runKey [sha256.Size]byte

type runMatrixKey struct{}

// runMatrixOf builds the matrix once for a space and train texts.
func runMatrixOf(env Environment) (*runMatrix, error) {
	return once(env, runMatrixKey{}, func() (*runMatrix, error) {
		train := env.train()
		if len(train) == 0 {
			return nil, ErrNoTexts
		}
		h := sha256.New()
		for _, document := range train {
			for _, word := range document {
				h.Write([]byte(word))
				h.Write([]byte{0})
			}
			h.Write([]byte{1})
		}
		return embeddings.Derive(env.Space, runKey(h.Sum(nil)), func() (*runMatrix, error) {
			return newRunMatrix(env.Space, train)
		})
	})
}

// newRunMatrix fails where the train texts have no words.
func newRunMatrix(space *embeddings.Space, train [][]string) (*runMatrix, error) {
	words := embeddings.ByFrequency(train)
	if len(words) == 0 {
		return nil, errors.New("variant as-run: the train texts have no words")
	}
	all, err := space.WithZeroWords(words)
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
}

// first returns the words with a vector and the first n of those without, as
// ranked. Where equal distances go to the first row, no other row is ever among
// the n nearest.
func (m *runMatrix) first(n int) []WordID {
	var words []WordID
	for _, w := range m.ranked {
		if !m.has[w] {
			if n == 0 {
				continue
			}
			n--
		}
		words = append(words, w)
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

// runRows are some rows of a matrix, with the first coordinates only, and what they
// stand for.
type runRows struct {
	matrix *runMatrix
	space  *embeddings.Space
	// inputs are the words whose vectors the rows have, outputs the words that are
	// returned for them; Unknown returns the input word.
	inputs, outputs []WordID
}

// runRowsOf are the rows of the words that pick chooses, which they are returned as.
func runRowsOf(env Environment, coordinates int, pick func(*runMatrix) []WordID) (*runRows, error) {
	m, err := runMatrixOf(env)
	if err != nil {
		return nil, err
	}
	words := pick(m)
	space, err := m.space(words, coordinates)
	if err != nil {
		return nil, err
	}
	return &runRows{
		matrix:  m,
		space:   space,
		inputs:  words,
		outputs: words,
	}, nil
}

// mechanism makes a mechanism over words of one over the rows. A word without a
// vector, or not of the train texts, is returned unchanged, which publishes it.
func (r *runRows) mechanism(s Settings, g Guarantee, inner *Mechanism) *Mechanism {
	of := slices.Repeat([]WordID{embeddings.Unknown}, r.matrix.all.Len())
	for row, w := range r.inputs {
		if w != embeddings.Unknown && r.matrix.has[w] {
			of[w] = WordID(row)
		}
	}
	return restrict(inner, restriction{s, g, r.matrix.all.Vocabulary, of, r.outputs})
}
