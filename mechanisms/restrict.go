package mechanisms

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/list"
)

// restricted applies a mechanism to some words of a vocabulary and returns all
// others unchanged, as if they were absent. The mechanism inside may have a
// vocabulary of its own.
type restricted struct {
	restriction
	inner *Mechanism
}

// restriction is what a mechanism that applies another to some words has of its own.
type restriction struct {
	settings   Settings
	guarantee  Guarantee
	vocabulary *embeddings.Vocabulary
	input      []WordID // inner's word for each word, Unknown for a word that stays
	// output is the word for each of inner's, Unknown where the input word comes
	// back; nil where they are the same.
	output []WordID
}

// restrict knows of the result what is known of inner.
func restrict(inner *Mechanism, x restriction) *Mechanism {
	r := &restricted{x, inner}
	m := &Mechanism{
		settings:   x.settings,
		guarantee:  x.guarantee,
		vocabulary: x.vocabulary,
		sampler:    r,
		valid:      inner.valid,
	}
	if inner.row != nil {
		m.row = r.row
		m.rows = r.rows
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
func (r *restricted) draw(ctx context.Context, documents []document, workers int) error {
	inside := make([]document, len(documents))
	for d, x := range documents {
		inside[d] = document{make([]WordID, 0, len(x.words)), x.rng}
		for _, w := range x.words {
			if r.input[w] != embeddings.Unknown {
				inside[d].words = append(inside[d].words, r.input[w])
			}
		}
	}
	if err := r.inner.sampler.draw(ctx, inside, workers); err != nil {
		return err
	}
	for d, x := range documents {
		left := inside[d].words
		for i, w := range x.words {
			if r.input[w] != embeddings.Unknown {
				x.words[i] = r.target(w, left[0])
				left = left[1:]
			}
		}
	}
	return nil
}

// choices are those of inner; words that stay are drawn for nothing.
func (r *restricted) choices(words []WordID, rng *rand.Rand) Choices {
	inner := r.inner.choices(list.Map(words, func(w WordID) WordID {
		return max(r.input[w], 0)
	}), rng)
	return func(i int, take func(WordID, float64)) {
		w := words[i]
		if r.input[w] == embeddings.Unknown {
			take(w, 1)
			return
		}
		inner(i, func(y WordID, p float64) { take(r.target(w, y), p) })
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

// rows adds up what inner returns for each output.
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
	kept := slices.Concat(m.kept, words)
	keeps := make(map[string]struct{}, len(kept))
	for _, w := range kept {
		keeps[w] = struct{}{}
	}
	input := m.vocabulary.IDs()
	known := 0
	for _, w := range words {
		if id := m.vocabulary.ID(w); id != embeddings.Unknown && input[id] != embeddings.Unknown {
			input[id] = embeddings.Unknown
			known++
		}
	}
	k := restrict(m, restriction{m.settings, m.guarantee.without(input, known), m.vocabulary, input, nil})
	k.kept = kept
	k.keeps = keeps
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
	g.Scope = scope
	g.EuclideanEpsilon = 0
	g.Covers = func(a, b WordID) bool {
		return input[a] != embeddings.Unknown && input[b] != embeddings.Unknown && (covers == nil || covers(a, b))
	}
	return g
}
