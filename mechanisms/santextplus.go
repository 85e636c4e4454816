package mechanisms

import (
	"fmt"
	"math"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "santext-plus",
		Title:    "SanText+",
		Source:   "Yue et al. 2021, Algorithm 2",
		Metric:   "euclidean",
		Order:    51,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{
				Name:    "w",
				Default: 0.5,
				Legal:   "in (0, 1]",
				Valid:   func(x float64) bool { return x > 0 && x <= 1 },
				Doc:     "share of the vocabulary that is sensitive: its rarest words",
			},
			{
				Name:    "p",
				Default: 0.2,
				Legal:   "in [0, 1]",
				Valid:   params.Between(0, 1),
				Doc:     "probability with which another word is replaced",
			},
		},
		PerWord: true,
		Needs:   Needs{Corpus: true},
		New:     newSanTextPlus,
	})
}

// newSanTextPlus builds SanText+. The sensitive words V_S are the rarest share
// w of the vocabulary of the corpus. A word of V_S becomes y ∈ V_S with
// Pr[y] ∝ exp(−(ε/2)·d(x,y)); any other word is kept with probability 1−p and
// otherwise drawn from V_S in the same way.
//
// Between sensitive words this is ε·d-private. A kept word is not an output of
// any other word, so nothing holds between two words that are not sensitive,
// nor between such a word and a sensitive one. The source's utility-optimised
// definition does not require it.
//
// As in the source's script, the share is of all words of the corpus, with or
// without a vector, in order of falling count (ties by first occurrence), and
// V_S is the part of it that has vectors; words of the space that never occur
// count as the rarest. The script takes one word more than the share. It
// replaces unknown words at random, which is policy random.
func newSanTextPlus(env Environment, s Settings) (*Mechanism, error) {
	share := s.Parameters["w"].(float64)
	n := env.Space.Len()
	costs, err := sensitiveCosts(env, share)
	if err != nil {
		return nil, err
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, "exponential mechanism over the sensitive words, "+
		"with the distance as cost; which words are sensitive is taken as public")
	if costs.count() < n {
		g.EuclideanEpsilon = 0
		g.Scope = fmt.Sprintf("between the %d sensitive of %d words, none with or between the others: "+
			"these are kept, and so told from all other words", costs.count(), n)
		g.Covers = func(a, b WordID) bool { return costs.isOutput(a) && costs.isOutput(b) }
	}
	law := Decay{
		Costs:    costs,
		Rate:     s.Epsilon / 2,
		Most:     math.Inf(1),
		Replaced: s.Parameters["p"].(float64),
	}
	return ByScores(s, g, law.Scores()), nil
}

// sensitiveKey is the share of the vocabulary that is sensitive.
type sensitiveKey float64

// sensitiveCosts are the distances of the sensitive words.
func sensitiveCosts(env Environment, share float64) (*Costs, error) {
	return once(env, sensitiveKey(share), func() (*Costs, error) {
		sensitive := rarestWords(env, share)
		if len(sensitive) == 0 {
			return nil, fmt.Errorf("w = %v: no word is sensitive", share)
		}
		return DistanceCosts(env.Space, sensitive), nil
	})
}

// rarestWords returns the words of the space that are in the rarest share of
// the vocabulary, by ascending id. The vocabulary is that of the corpus plus
// the words of the space that never occur, which count as the rarest.
func rarestWords(env Environment, share float64) (rarest []WordID) {
	order := embeddings.ByFrequency(env.Documents)
	occurs := map[string]bool{}
	for _, word := range order {
		occurs[word] = true
	}
	for _, word := range env.Space.Vocabulary.Words() {
		if !occurs[word] {
			order = append(order, word)
		}
	}
	for _, word := range order[len(order)-int(share*float64(len(order))):] {
		if id := env.Space.Vocabulary.ID(word); id != embeddings.Unknown {
			rarest = append(rarest, id)
		}
	}
	slices.Sort(rarest)
	return rarest
}
