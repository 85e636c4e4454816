// Package embeddings holds word vectors: a vocabulary, a float32 matrix and the
// geometry on it. It reads the usual file formats. Noise is not part of it;
// exact nearest-neighbour search is in embeddings/nearest.
package embeddings

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"sync"

	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
)

// WordID is the row of a word in a vocabulary.
type WordID int32

// Unknown stands for a word that is not in the vocabulary.
const Unknown WordID = -1

// Vocabulary is an immutable, ordered set of distinct words.
type Vocabulary struct {
	words  []string
	ids    map[string]WordID
	mapped *mappedWords // instead of the others, where a cache holds them
}

// NewVocabulary returns the vocabulary of words in the order given. A repeated
// word is an error.
func NewVocabulary(words []string) (*Vocabulary, error) {
	v := &Vocabulary{words: words, ids: make(map[string]WordID, len(words))}
	for i, w := range words {
		if j, dup := v.ids[w]; dup {
			return nil, fmt.Errorf("word %d: %q repeats word %d", i, w, j)
		}
		v.ids[w] = WordID(i)
	}
	return v, nil
}

// Len returns the number of words.
func (v *Vocabulary) Len() int {
	if v.mapped != nil {
		return len(v.mapped.ends)
	}
	return len(v.words)
}

// IDs returns the ids of all words, in order, in a slice of its own.
func (v *Vocabulary) IDs() []WordID {
	ids := make([]WordID, v.Len())
	for i := range ids {
		ids[i] = WordID(i)
	}
	return ids
}

// Word returns the word of an id in [0, Len).
func (v *Vocabulary) Word(id WordID) string {
	if v.mapped != nil {
		return v.mapped.word(id)
	}
	return v.words[id]
}

// Words returns all words in id order; the caller must not change them.
func (v *Vocabulary) Words() []string {
	if v.mapped != nil {
		return v.mapped.all()
	}
	return v.words
}

// ID returns the id of a word, or Unknown.
func (v *Vocabulary) ID(word string) WordID {
	if v.mapped != nil {
		return v.mapped.id(word)
	}
	if id, ok := v.ids[word]; ok {
		return id
	}
	return Unknown
}

// Encode appends the ids of tokens to dst.
func (v *Vocabulary) Encode(dst []WordID, tokens []string) []WordID {
	for _, t := range tokens {
		dst = append(dst, v.ID(t))
	}
	return dst
}

// Rows returns the rows that the tokens of documents have in Space.Table: their
// ids, and Len for a token without a vector.
func (v *Vocabulary) Rows(documents [][]string) [][]int32 {
	total := list.Sum(documents, func(d []string) int { return len(d) })
	flat := make([]int32, 0, total)
	out := make([][]int32, len(documents))
	for i, d := range documents {
		start := len(flat)
		for _, t := range d {
			id := v.ID(t)
			if id == Unknown {
				id = WordID(v.Len())
			}
			flat = append(flat, int32(id))
		}
		out[i] = flat[start:len(flat):len(flat)]
	}
	return out
}

// Space is a vocabulary with one vector per word. It is immutable after
// construction and safe for concurrent use.
type Space struct {
	Name       string // name of the embedding, e.g. "glove.6B.100d"
	Vocabulary *Vocabulary
	Dimension  int
	Generated  bool      // vectors learned from the generated corpus
	Vectors    []float32 // Len × Dimension, row-major; read only
	LeftOut    LeftOut   // of the vectors, by LoadOptions.Only or RestrictTo

	file        string // of package mapped that all of it lies in; "" for none
	fingerprint func() string
	longest     func() float64
	derived     memo.Memo // values that other packages build once per space, by their own key types
}

// NewSpace checks shapes and finiteness and takes ownership of vectors
// (vocabulary.Len() × dimension, row-major).
func NewSpace(name string, vocabulary *Vocabulary, dimension int, vectors []float32) (*Space, error) {
	s, err := newSpace(name, vocabulary, dimension, vectors)
	if err != nil {
		return nil, err
	}
	err = checkFinite(name, dimension, vocabulary.Word, vectors)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// newSpace is NewSpace of vectors that are finite.
func newSpace(name string, vocabulary *Vocabulary, dimension int, vectors []float32) (*Space, error) {
	if vocabulary.Len() == 0 {
		return nil, fmt.Errorf("embedding %s: empty vocabulary", name)
	}
	if dimension < 1 {
		return nil, fmt.Errorf("embedding %s: dimension = %d: must be >= 1", name, dimension)
	}
	if err := check.Heading("embedding", name); err != nil {
		return nil, err
	}
	if len(vectors) != vocabulary.Len()*dimension {
		return nil, fmt.Errorf("embedding %s: %d numbers for %d words × %d", name, len(vectors), vocabulary.Len(),
			dimension)
	}
	s := &Space{
		Name:       name,
		Vocabulary: vocabulary,
		Dimension:  dimension,
		Vectors:    vectors,
	}
	s.fingerprint = sync.OnceValue(func() string {
		return fingerprint(s.Len(), s.Dimension, s.Vocabulary.Word, s.Vectors)
	})
	s.longest = sync.OnceValue(func() float64 { return longest(s.Vectors, s.Dimension) })
	if err := s.checkBall(); err != nil {
		return nil, err
	}
	return s, nil
}

// Metric is the geometry that vectors were learned in.
type Metric string

// Metrics.
const (
	euclidean Metric = "euclidean"
	Poincare  Metric = "poincare" // all vectors are in the open unit ball
)

// Metric returns Poincare where the name of the space has "poincare", as files of such
// vectors are called.
func (s *Space) Metric() Metric {
	if strings.Contains(strings.ToLower(s.Name), string(Poincare)) {
		return Poincare
	}
	return euclidean
}

// checkBall names the first word of a space of the Poincaré ball that is outside it.
func (s *Space) checkBall() error {
	if s.Metric() != Poincare {
		return nil
	}
	origin := make([]float32, s.Dimension)
	for id := range WordID(s.Len()) {
		if length := Euclidean(s.Vector(id), origin); !(length < 1) {
			return fmt.Errorf("embedding %s: the vector of %q has length %.6g: those of the Poincaré ball are "+
				"shorter than 1", s.Name, s.Vocabulary.Word(id), length)
		}
	}
	return nil
}

// checkFinite names the first word with a component that is not finite.
func checkFinite(name string, dimension int, word func(id WordID) string, vectors []float32) error {
	for i, x := range vectors {
		f := float64(x)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("embedding %s: word %q has a component that is not finite", name,
				word(WordID(i/dimension)))
		}
	}
	return nil
}

// Len returns the number of words.
func (s *Space) Len() int { return s.Vocabulary.Len() }

// Table returns a copy of the vectors, (Len + 1) × Dimension: the last row is
// zero, for tokens without a vector.
func (s *Space) Table() []float32 {
	table := make([]float32, (s.Len()+1)*s.Dimension)
	copy(table, s.Vectors)
	return table
}

// Vector returns the vector of a word as a view; the caller must not write.
func (s *Space) Vector(id WordID) []float32 {
	i := int(id) * s.Dimension
	return s.Vectors[i : i+s.Dimension : i+s.Dimension]
}

// Distance returns the Euclidean distance between two words, accumulated in
// float64 in index order. It is the reference for every faster search.
func (s *Space) Distance(a, b WordID) float64 {
	return Euclidean(s.Vector(a), s.Vector(b))
}

// Euclidean returns the Euclidean distance between two vectors of equal length,
// accumulated in float64 in index order.
func Euclidean(a, b []float32) float64 {
	var sum float64
	for i, x := range a {
		d := float64(x) - float64(b[i])
		sum += float64(d * d) // no fused multiply-add: one result on every platform
	}
	return math.Sqrt(sum)
}

// Restrict returns the space of the words of s for which keep is true, in the
// order of s. It is an error if there are none.
func (s *Space) Restrict(keep func(word string) bool) (*Space, error) {
	var words []string
	var vectors []float32
	for id := range WordID(s.Len()) {
		w := s.Vocabulary.Word(id)
		if keep(w) {
			words = append(words, w)
			vectors = append(vectors, s.Vector(id)...)
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("embedding %s: none of its %d words is in the data set", s.Name, s.Len())
	}
	return s.with(words, vectors)
}

// with returns a space of other words of the same embedding.
func (s *Space) with(words []string, vectors []float32) (*Space, error) {
	v, err := NewVocabulary(words)
	if err != nil {
		return nil, err
	}
	r, err := NewSpace(s.Name, v, s.Dimension, vectors)
	if err != nil {
		return nil, err
	}
	r.Generated = s.Generated
	return r, nil
}

// Fingerprint returns the hex SHA-256 of dimension, words and vectors: equal
// fingerprints mean equal results. The name is not part of it.
func (s *Space) Fingerprint() string { return s.fingerprint() }

// hash is the fingerprint of a space: words are written with their lengths, so no
// two spaces are written alike.
// fingerprint is that of a space.
func fingerprint(words, dimension int, word func(id WordID) string, vectors []float32) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d\n", dimension, words)
	for id := range WordID(words) {
		w := word(id)
		fmt.Fprintf(h, "%d %s\n", len(w), w)
	}
	buf := make([]byte, 0, 4*dimension)
	for ; len(vectors) > 0; vectors = vectors[dimension:] {
		buf = buf[:0]
		for _, x := range vectors[:dimension] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Longest returns the largest Euclidean norm of the vectors.
func (s *Space) Longest() float64 { return s.longest() }

// longest is that of vectors; NaN or infinite if a component is.
func longest(vectors []float32, dimension int) float64 {
	zero := make([]float32, dimension)
	most := 0.0
	for ; len(vectors) > 0; vectors = vectors[dimension:] {
		most = max(most, Euclidean(zero, vectors[:dimension]))
	}
	return most
}

// File returns the file of package mapped that holds exactly this space, for what else is worth
// keeping beside it; "" if there is none.
func (s *Space) File() string { return s.file }

// Derive returns the result of build for s, which succeeds once per key and
// space, for example for a covariance root or a distance range. The key must be
// of a type private to the caller's package, which stands for one T.
func Derive[T any](s *Space, key any, build func() (T, error)) (T, error) {
	return memo.Once(&s.derived, key, build)
}

// Once is Derive for what cannot fail, such as the nearest-neighbour index.
func Once[T any](s *Space, key any, build func() T) T {
	value, _ := memo.Once(&s.derived, key, func() (T, error) { return build(), nil })
	return value
}
