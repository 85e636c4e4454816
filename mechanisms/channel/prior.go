package channel

import (
	"slices"

	"mldpbench/internal/list"
	"mldpbench/mechanisms"
)

// Uniform is the prior that gives each of n inputs 1/n.
func Uniform(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// Empirical is a prior proportional to the counts of the inputs in a corpus, with one added
// to each, so that none is ruled out (Laplace's rule).
func Empirical(counts []int) []float64 {
	total := len(counts) + list.Sum(counts, func(n int) int { return n })
	return list.Map(counts, func(n int) float64 { return float64(n+1) / float64(total) })
}

// wordsOf are the words that a text has, with their shares of it, from how often it has each
// word of a vocabulary.
func wordsOf(counts []int) (words []mechanisms.WordID, prior []float64) {
	total := float64(list.Sum(counts, func(n int) int { return n }))
	for w, n := range counts {
		if n > 0 {
			words = append(words, mechanisms.WordID(w))
			prior = append(prior, float64(n)/total)
		}
	}
	return words, prior
}

// likeliest is the most probable input; the first of several.
func likeliest(prior []float64) int32 { return int32(slices.Index(prior, slices.Max(prior))) }
