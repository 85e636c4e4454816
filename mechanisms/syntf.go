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
	costs, err := once(env, coveredKey{}, func() (*Costs, error) { return coveredCosts(env) })
	if err != nil {
		return nil, err
	}
	g := Guarantee{
		Metric:   "discrete",
		Epsilon:  s.Epsilon,
		Distance: Discrete,
		Reason:   "exponential mechanism over one candidate set with a rating of sensitivity 1",
	}
	law := Decay{
		Costs:    costs,
		Rate:     s.Epsilon / 2,
		Most:     1,
		Replaced: 1,
	}
	return ByScores(s, g, law.Scores()), nil
}

type coveredKey struct{}

// coveredCosts are the cosines with the words that the thesaurus covers.
func coveredCosts(env Environment) (*Costs, error) {
	var covered []WordID
	for id, w := range env.Space.Vocabulary.Words() {
		if env.Thesaurus.Covers(w) {
			covered = append(covered, WordID(id))
		}
	}
	if len(covered) == 0 {
		return nil, errors.New("the thesaurus covers no word of the embedding")
	}
	return CosineCosts(env.Space, covered), nil
}
