// Package spacetest makes small embeddings for tests.
package spacetest

import (
	"fmt"
	"math"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/stream"
)

// New returns a space of the words "w0", "w1", … with the given vectors, row
// after row.
func New(t testing.TB, dimension int, vectors []float32) *embeddings.Space {
	t.Helper()
	words := make([]string, len(vectors)/dimension)
	for i := range words {
		words[i] = fmt.Sprintf("w%d", i)
	}
	v, err := embeddings.NewVocabulary(words)
	if err != nil {
		t.Fatal(err)
	}
	s, err := embeddings.NewSpace("test", v, dimension, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Gaussian returns n words with independent normal coordinates of standard
// deviation scale.
func Gaussian(t testing.TB, n, dimension int, scale float64, seed uint64) *embeddings.Space {
	t.Helper()
	rng := stream.FromUint64(seed).Derive("space").Rand()
	vectors := make([]float32, n*dimension)
	for i := range vectors {
		vectors[i] = float32(scale * rng.NormFloat64())
	}
	return New(t, dimension, vectors)
}

// Tens is a thesaurus in which every ten words are synonyms.
type Tens struct{}

// Covers is true of every word.
func (Tens) Covers(string) bool { return true }

// Lemmas returns the ten words.
func (Tens) Lemmas(word string) (all []string) {
	for i := range 10 {
		all = append(all, fmt.Sprint(word[:len(word)-1], i))
	}
	return all
}

// Ball returns a space with its vectors scaled into the Poincaré ball, the longest to .95.
func Ball(t testing.TB, s *embeddings.Space) *embeddings.Space {
	t.Helper()
	longest := max(s.Longest(), math.SmallestNonzeroFloat32)
	vectors := make([]float32, len(s.Vectors))
	for i, v := range s.Vectors {
		vectors[i] = float32(0.95 * float64(v) / longest)
	}
	ball, err := embeddings.NewSpace("poincare.test", s.Vocabulary, s.Dimension, vectors)
	if err != nil {
		t.Fatal(err)
	}
	return ball
}
