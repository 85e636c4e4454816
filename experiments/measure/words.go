package measure

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// SampleWords draws words of the space; they are the same for every mechanism
// and ε.
func SampleWords(space *embeddings.Space, n int, seed stream.Seed) []mechanisms.WordID {
	return metrics.SampleWords(numbers[mechanisms.WordID](space.Len()), n, seed.Rand())
}

// SampleText returns n words of a text, drawn with replacement, of which each word
// occurs so often.
func SampleText(counts []int, n int, seed stream.Seed) []mechanisms.WordID {
	var text []mechanisms.WordID
	for w, count := range counts {
		text = append(text, slices.Repeat([]mechanisms.WordID{mechanisms.WordID(w)}, count)...)
	}
	out := make([]mechanisms.WordID, n)
	rng := seed.Rand()
	for i := range out {
		out[i] = text[rng.IntN(len(text))]
	}
	return out
}

// numbers returns 0 to n−1.
func numbers[T ~int32 | ~int](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i)
	}
	return out
}

// shown returns aligned text as a reader sees it, without the empty words that
// mark removed words. Documents without empty words are shared, not copied.
func shown(aligned [][]string) [][]string {
	removed := func(token string) bool { return token == "" }
	out := make([][]string, len(aligned))
	for i, d := range aligned {
		out[i] = d
		if slices.ContainsFunc(d, removed) {
			out[i] = slices.DeleteFunc(slices.Clone(d), removed)
		}
	}
	return out
}

// releaseVectors privatises documents with a mechanism that releases vectors and
// returns the mean of each, and the number of words released. A word outside
// the vocabulary has no vector to release: policy random replaces the word, the
// others leave it out. A document without any word is the zero vector.
func releaseVectors(ctx context.Context, m mechanisms.VectorMechanism, policy mechanisms.Policy, documents [][]string,
	seed stream.Seed) ([][]float32, int, error) {
	v := m.Vocabulary()
	width := m.OutputDimension()
	words := 0
	out := make([][]float32, len(documents))
	var ids []mechanisms.WordID
	var buffer []float32
	sum := make([]float64, width)
	for j, d := range documents {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		rng := seed.At(uint64(j)).Rand()
		ids = releasable(ids[:0], d, v, policy, rng)
		words += len(ids)
		buffer = slices.Grow(buffer[:0], len(ids)*width)[:len(ids)*width]
		m.Release(buffer, ids, rng)
		clear(sum)
		for k, x := range buffer {
			sum[k%width] += float64(x)
		}
		mean := make([]float32, width)
		for k := range mean {
			if len(ids) > 0 {
				mean[k] = float32(sum[k] / float64(len(ids)))
			}
		}
		out[j] = mean
	}
	return out, words, nil
}

// releasable appends to dst the words of a text that are released: under policy random
// each one without a vector is a random word, else it is left out.
func releasable(dst []mechanisms.WordID, tokens []string, v *embeddings.Vocabulary, policy mechanisms.Policy,
	rng *rand.Rand) []mechanisms.WordID {
	for _, t := range tokens {
		id := v.ID(t)
		if id == embeddings.Unknown {
			if policy != mechanisms.Random {
				continue
			}
			id = mechanisms.WordID(rng.IntN(v.Len()))
		}
		dst = append(dst, id)
	}
	return dst
}

// drawing adapts a mechanism and one generator to the samplers of metrics.
func drawing(ctx context.Context, m *mechanisms.Mechanism, rng *rand.Rand) func(dst, src []mechanisms.WordID) error {
	return func(dst, src []mechanisms.WordID) error {
		return errors.Join(ctx.Err(), m.Privatize(ctx, dst, src, rng))
	}
}
