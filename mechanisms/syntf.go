package mechanisms

import "errors"

func init() {
	Register(Definition{
		Name:     "syntf",
		Title:    "SynTF",
		Source:   "Weggenmann & Kerschbaum 2018, §4.2",
		Metric:   "discrete",
		Variants: []Variant{Proved, Released, AsRun},
		PerWord:  true,
		Needs:    Needs{Thesaurus: true, Corpus: true},
		Order:    70,
		New:      newSynTF,
	})
}

// newSynTF builds the synonym mechanism, Pr[y] ∝ exp((ε/2)·ρ(w,y)) with
// ρ ∈ [0, 1].
//
//   - Proved: the candidates are all words of the space that the thesaurus
//     covers, the same for every input, and ρ is the cosine of the embeddings
//     clipped to [0, 1]. A word that the thesaurus does not cover is an input
//     like any other: left unchanged, it could be distinguished from all
//     others. Guarantee: ε-DP per word, any two words being neighbours.
//   - Released and AsRun: see newThesaurusSynTF.
func newSynTF(env Environment, s Settings) (*Mechanism, error) {
	if env.Thesaurus == nil {
		return nil, errors.New("it needs a thesaurus: WordNet, or that of the generated corpus")
	}
	if s.Variant != Proved {
		return newThesaurusSynTF(env, s)
	}
	space := env.Space
	var candidates []WordID
	for id, w := range space.Vocabulary.Words() {
		if env.Thesaurus.Covers(w) {
			candidates = append(candidates, WordID(id))
		}
	}
	if len(candidates) == 0 {
		return nil, errors.New("the thesaurus covers no word of the embedding")
	}
	norms := normsOf(space)
	g := Guarantee{Metric: "discrete", Epsilon: s.Epsilon, Distance: Discrete,
		Reason: "exponential mechanism over one candidate set with a rating of sensitivity 1"}
	scores := func(word WordID, epsilon float64, row []float64) ([]float64, []WordID) {
		row = row[:len(candidates)]
		for i, y := range candidates {
			row[i] = epsilon / 2 * clippedCosine(row[i], norms, word, y)
		}
		return row, candidates
	}
	full := newSelector(s, g, space.Vocabulary, productBasis(space, candidates), scores)
	if len(candidates) > fullWords {
		full.sampler = newCosineSelector(full.sampler.(*selector), space, candidates, norms)
	}
	return full, nil
}
