package mechanisms

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
)

// partial applies inner to some words of a vocabulary and returns all others
// unchanged, as if they were absent. inner may have a vocabulary of its own.
type partial struct {
	built
	inner Mechanism
	input []WordID // inner's word for each word, Unknown for a word that stays
	// output is the word for each of inner's, Unknown where the input word comes
	// back; nil where they are the same.
	output []WordID
}

// target is the word that an output of inner stands for.
func (m *partial) target(word, output WordID) WordID {
	switch {
	case m.output == nil:
		return output
	case m.output[output] == embeddings.Unknown:
		return word
	}
	return m.output[output]
}

// CheckEpsilon calls the CheckEpsilon of inner.
func (m *partial) CheckEpsilon(epsilon float64) error {
	if c, ok := m.inner.(EpsilonChecker); ok {
		return c.CheckEpsilon(epsilon)
	}
	return nil
}

func (m *partial) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	m.PrivatizeBatch([][]WordID{dst}, [][]WordID{src}, [][]float64{epsilons}, []*rand.Rand{rng})
}

// PrivatizeBatch passes on the words that do not stay.
func (m *partial) PrivatizeBatch(dst, src [][]WordID, epsilons [][]float64, rngs []*rand.Rand) {
	_ = m.each(dst, src, epsilons, func(words [][]WordID, eps [][]float64) error {
		privatizeAll(m.inner, words, eps, rngs)
		return nil
	})
}

// each maps words to inner's, lets privatize overwrite these, and maps them
// back.
func (m *partial) each(dst, src [][]WordID, epsilons [][]float64,
	privatize func([][]WordID, [][]float64) error) error {
	words, eps := make([][]WordID, len(src)), make([][]float64, len(src))
	for d, document := range src {
		for i, w := range document {
			if m.input[w] == embeddings.Unknown {
				continue
			}
			words[d] = append(words[d], m.input[w])
			if epsilons != nil && epsilons[d] != nil {
				eps[d] = append(eps[d], epsilons[d][i])
			}
		}
	}
	if err := privatize(words, eps); err != nil {
		return err
	}
	for d, document := range src {
		left := words[d]
		for i, w := range document {
			dst[d][i] = w
			if m.input[w] != embeddings.Unknown {
				dst[d][i], left = m.target(w, left[0]), left[1:]
			}
		}
	}
	return nil
}

// exactPartial is partial with an inner mechanism whose probabilities are known.
type exactPartial struct{ *partial }

// Distribution adds up what inner returns for each output.
func (m exactPartial) Distribution(word WordID) (Distribution, error) {
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
	for y, p := range inner.Probabilities {
		d.Probabilities[m.target(word, WordID(y))] += p
	}
	d.AbsoluteError, d.Samples = inner.AbsoluteError, inner.Samples
	return d, nil
}

// LogBounds does the same in logarithms.
func (m exactPartial) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return nil, nil, err
	}
	if m.input[word] == embeddings.Unknown {
		logs := certain(make([]float64, m.vocabulary.Len()), word)
		return logs, logs, nil
	}
	innerLow, innerHigh, err := m.inner.(LogBounder).LogBounds(m.input[word])
	if err != nil {
		return nil, nil, err
	}
	add := func(inner []float64) []float64 {
		logs := slices.Repeat([]float64{math.Inf(-1)}, m.vocabulary.Len())
		for y, x := range inner {
			to := &logs[m.target(word, WordID(y))]
			*to = logAdd(*to, x)
		}
		return logs
	}
	low = add(innerLow)
	if &innerLow[0] == &innerHigh[0] {
		return low, low, nil
	}
	return low, add(innerHigh), nil
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

// certain writes the log-probabilities of the distribution that always returns
// one word.
func certain(dst []float64, word WordID) []float64 {
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	dst[word] = 0
	return dst
}

// tabledPartial is exactPartial over the selection family, which privatises a
// whole corpus at once.
type tabledPartial struct{ exactPartial }

func (m tabledPartial) privatizeGrouped(ctx context.Context, dst, src [][]WordID, epsilons [][]float64,
	rngs []*rand.Rand, workers int) error {
	return m.each(dst, src, epsilons, func(words [][]WordID, eps [][]float64) error {
		return m.inner.(grouped).privatizeGrouped(ctx, words, words, eps, rngs, workers)
	})
}
