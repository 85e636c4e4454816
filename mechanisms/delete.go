package mechanisms

import (
	"math/rand/v2"

	"mldpbench/embeddings"
)

func init() {
	Register(Definition{
		Name:     "delete",
		Title:    "Delete",
		Source:   "baseline: no word is published",
		Metric:   "discrete",
		Order:    920,
		Variants: []Variant{Proved},
		PerWord:  true,
		Constant: true,
		New:      newDelete,
	})
}

// newDelete publishes nothing: every word becomes the empty word. PrivatizeText
// leaves that out, so every text becomes empty.
func newDelete(env Environment, s Settings) (*Mechanism, error) {
	words := env.Space.Vocabulary.Words()
	nothing := WordID(len(words))
	vocabulary, err := embeddings.NewVocabulary(append(words[:len(words):len(words)], ""))
	if err != nil {
		return nil, err
	}
	return ByFormula(s, perfect("nothing is published"), Formula{
		Vocabulary: vocabulary,
		Draw:       func(WordID, *rand.Rand) WordID { return nothing },
		LogRow:     func(dst []float64, _ WordID) { certain(dst, nothing) },
	}), nil
}
