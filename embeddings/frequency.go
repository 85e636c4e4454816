package embeddings

import (
	"cmp"
	"slices"
)

// CountWords returns the distinct words of documents in the order of their
// first occurrence, and how often each occurs.
func CountWords(documents [][]string) (words []string, counts map[string]int) {
	counts = map[string]int{}
	for _, d := range documents {
		for _, t := range d {
			if counts[t] == 0 {
				words = append(words, t)
			}
			counts[t]++
		}
	}
	return words, counts
}

// ByFrequency returns the distinct words of documents by falling frequency,
// first come first among equals: the order of a Keras tokenizer, whose index of
// a word is its place here plus one.
func ByFrequency(documents [][]string) []string {
	words, counts := CountWords(documents)
	slices.SortStableFunc(words, func(a, b string) int {
		return cmp.Compare(counts[b], counts[a])
	})
	return words
}

// Matrix returns the vectors of words, len(words) × Dimension, with a row of
// zeros for a word that s lacks.
func (s *Space) Matrix(words []string) []float32 {
	matrix := make([]float32, len(words)*s.Dimension)
	for i, w := range words {
		if id := s.Vocabulary.ID(w); id != Unknown {
			copy(matrix[i*s.Dimension:], s.Vector(id))
		}
	}
	return matrix
}
