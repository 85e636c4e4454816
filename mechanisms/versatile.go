package mechanisms

import (
	"context"
	"errors"
	"math/rand/v2"

	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "versatile",
		Title:    "Versatile",
		Source:   "Arampatzis et al. 2013 and 2015, statistical query scrambler",
		Metric:   "discrete",
		Order:    154,
		Variants: []Variant{Printed},
		Parameters: []Parameter{{Name: "k", Default: 4.0, Legal: "a whole number in [1, 64]",
			Valid: params.Whole(1, 64), Doc: "sets of words that take the place of a text"}},
		Constant: true,
		Drawn:    true,
		Needs:    Needs{Thesaurus: true, Corpus: true},
		New:      newVersatile,
	})
}

// newVersatile builds the scrambler that hides a query behind queries which find much
// the same. A corpus is cut into windows of 16 content words. Candidates are the sets of
// at most three words of a window, without words of the query or their relatives in the
// thesaurus, ranked by the pointwise mutual information with the query,
// log(N·df(w,q) / (df(w)·df(q))), df the number of the N windows that have all words of
// the set, or a word of the query. The k best sets take its place.
//
// Deviations: a text is a query; the corpus is that of the data set; content words are
// those of the thesaurus, and relatives its synonyms; sets are those of the four windows
// that share most words with the query, where the paper takes all; of equal ranks the
// set of more windows comes first; the words of the sets fill the length of the text, as
// often as needed, so that each word has a place. Nothing is random, and nothing is
// promised, but where no window has a word of the text: there any word comes.
func newVersatile(env Environment, s Settings) (*Mechanism, error) {
	if env.Thesaurus == nil {
		return nil, errors.New("it needs a thesaurus: WordNet, or that of the generated corpus")
	}
	type key struct{}
	w, err := once(env, key{}, func() (*windows, error) { return newWindows(env), nil })
	if err != nil {
		return nil, err
	}
	g := Guarantee{Reason: "equal texts become equal ones without noise: an output of one text is impossible for " +
		"another"}
	sampler := versatile{w, int(s.Parameters["k"].(float64)), env.Space.Len()}
	return &Mechanism{settings: s, guarantee: g, vocabulary: env.Space.Vocabulary, sampler: sampler}, nil
}

// versatile is the sampler.
type versatile struct {
	*windows
	k, n int
}

func (m versatile) whole() bool { return false }

// draw scrambles each document on its own.
func (m versatile) draw(ctx context.Context, documents []document, _ int) error {
	for _, x := range documents {
		if err := ctx.Err(); err != nil {
			return err
		}
		out := m.scramble(x.words)
		for i := range x.words {
			x.words[i] = m.word(out, i, x.rng)
		}
	}
	return nil
}

// word is the i-th of the words of sets, again from the first after the last, or any.
func (m versatile) word(out []WordID, i int, rng *rand.Rand) WordID {
	if len(out) == 0 {
		return WordID(rng.IntN(m.n))
	}
	return out[i%len(out)]
}
