package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
)

// restricted applies a mechanism to some words of a vocabulary and returns all
// others unchanged, as if they were absent. The mechanism inside may have a
// vocabulary of its own.
type restricted struct {
	inner *Mechanism
	input []WordID // inner's word for each word, Unknown for a word that stays
	// output is the word for each of inner's, Unknown where the input word comes
	// back; nil where they are the same.
	output []WordID
}

// restrict makes a mechanism of settings, guarantee and vocabulary given.
func restrict(s Settings, g Guarantee, v *embeddings.Vocabulary, inner *Mechanism, input, output []WordID) *Mechanism {
	r := &restricted{inner, input, output}
	m := &Mechanism{settings: s, guarantee: g, vocabulary: v, sampler: r, valid: inner.valid}
	if inner.row != nil {
		m.row, m.rows = r.row, r.rows
	}
	if inner.choices != nil {
		m.choices = r.choices
	}
	return m
}

// target is the word that an output of inner stands for.
func (r *restricted) target(word, output WordID) WordID {
	switch {
	case r.output == nil:
		return output
	case r.output[output] == embeddings.Unknown:
		return word
	}
	return r.output[output]
}

func (r *restricted) whole() bool { return r.inner.sampler.whole() }

// draw passes on the words that do not stay.
func (r *restricted) draw(ctx context.Context, documents []Document, workers int) error {
	inside := make([]Document, len(documents))
	for d, x := range documents {
		inside[d] = Document{make([]WordID, 0, len(x.Words)), x.Epsilon, x.Rand}
		for _, w := range x.Words {
			if r.input[w] != embeddings.Unknown {
				inside[d].Words = append(inside[d].Words, r.input[w])
			}
		}
	}
	if err := r.inner.sampler.draw(ctx, inside, workers); err != nil {
		return err
	}
	for d, x := range documents {
		left := inside[d].Words
		for i, w := range x.Words {
			if r.input[w] != embeddings.Unknown {
				x.Words[i], left = r.target(w, left[0]), left[1:]
			}
		}
	}
	return nil
}

// choices are those of inner; words that stay are drawn for nothing.
func (r *restricted) choices(words []WordID, rng *rand.Rand) Choices {
	inner := r.inner.choices(list.Map(words, func(w WordID) WordID { return max(r.input[w], 0) }), rng)
	return func(i int, take func(WordID, float64)) {
		if w := words[i]; r.input[w] == embeddings.Unknown {
			take(w, 1)
		} else {
			inner(i, func(y WordID, p float64) { take(r.target(w, y), p) })
		}
	}
}

// row adds up what inner returns for each output.
func (r *restricted) row(dst []float64, word WordID) {
	if r.input[word] == embeddings.Unknown {
		certain(dst, word)
		return
	}
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	inner := make([]float64, r.inner.vocabulary.Len())
	r.inner.row(inner, r.input[word])
	for y, x := range inner {
		to := &dst[r.target(word, WordID(y))]
		*to = logAdd(*to, x)
	}
}

func (r *restricted) rows(words []WordID) [][]float64 {
	out := make([][]float64, len(words))
	for i, w := range words {
		out[i] = make([]float64, len(r.input))
		if r.input[w] == embeddings.Unknown {
			out[i][w] = 1
			continue
		}
		inner, _ := r.inner.Row(r.input[w]) // it is closed, and the word is one of its own
		for y, p := range inner {
			out[i][r.target(w, WordID(y))] += p
		}
	}
	return out
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
func certain(dst []float64, word WordID) {
	for y := range dst {
		dst[y] = math.Inf(-1)
	}
	dst[word] = 0
}

// KeepWords returns the mechanism that leaves the given words unchanged and
// privatises all others with m, as CusText+ (Chen et al. 2023, §4.3) and the
// released 1-Diffractor do with stop words. A kept word is published, so ε is
// infinite on it; the guarantee then holds between the other words only. Words
// outside m's vocabulary may be kept as well; PrivatizeText leaves them
// unchanged too.
func KeepWords(m *Mechanism, words []string) *Mechanism {
	if len(words) == 0 {
		return m
	}
	all, input, known := make(map[string]struct{}, len(words)), m.vocabulary.IDs(), 0
	for _, w := range words {
		all[w] = struct{}{}
		if id := m.vocabulary.ID(w); id != embeddings.Unknown && input[id] != embeddings.Unknown {
			input[id] = embeddings.Unknown
			known++
		}
	}
	k := restrict(m.settings, m.guarantee.without(input, known), m.vocabulary, m, input, nil)
	k.keeps = all
	k.at = func(epsilon float64) (*Mechanism, error) {
		other, err := m.At(epsilon)
		if err != nil {
			return nil, err
		}
		return KeepWords(other, words), nil
	}
	return k
}

// without takes words that stay, known of them, out of a guarantee.
func (g Guarantee) without(input []WordID, known int) Guarantee {
	if !g.Holds() {
		return g
	}
	covers := g.Covers
	scope := fmt.Sprintf("between words that are not kept; those that are, %d of %d, pass unchanged: "+
		"on them epsilon is infinite", known, len(input))
	if g.Scope != "" {
		scope = g.Scope + ", and " + scope
	}
	g.Scope, g.EuclideanEpsilon = scope, 0
	g.Covers = func(a, b WordID) bool {
		return input[a] != embeddings.Unknown && input[b] != embeddings.Unknown && (covers == nil || covers(a, b))
	}
	return g
}
