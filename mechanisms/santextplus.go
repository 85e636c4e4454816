package mechanisms

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

func init() {
	Register(Definition{
		Name:     "santext-plus",
		Title:    "SanText+",
		Source:   "Yue et al. 2021, Algorithm 2",
		Metric:   "euclidean",
		Order:    51,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{Name: "w", Default: 0.5, Legal: "in (0, 1]", Valid: func(x float64) bool { return x > 0 && x <= 1 },
				Doc: "share of the vocabulary that is sensitive: its rarest words"},
			{Name: "p", Default: 0.2, Legal: "in [0, 1]", Valid: params.Between(0, 1),
				Doc: "probability with which another word is replaced"},
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
	w, p := s.Parameters["w"].(float64), s.Parameters["p"].(float64)
	n := env.Space.Len()
	sensitive, isSensitive := rarestWords(env, w)
	if len(sensitive) == 0 {
		return nil, fmt.Errorf("w = %v: no word is sensitive", w)
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, "exponential mechanism over the sensitive words, "+
		"with the distance as cost; which words are sensitive is taken as public")
	if len(sensitive) < n {
		g.EuclideanEpsilon = 0
		g.Scope = fmt.Sprintf("between the %d sensitive of %d words, none with or between the others: "+
			"these are kept, and so told from all other words", len(sensitive), n)
		g.Covers = func(a, b WordID) bool { return isSensitive[a] && isSensitive[b] }
	}
	scores := func(word WordID, epsilon float64, row []float64) ([]float64, []WordID) {
		if !isSensitive[word] && p == 0 {
			return []float64{0}, []WordID{word}
		}
		for i, y := range sensitive {
			row[i] = -epsilon / 2 * row[y] // i ≤ y: nothing is overwritten before it is read
		}
		row = row[:len(sensitive)]
		if isSensitive[word] || p == 1 {
			return row, sensitive
		}
		shift := math.Log(p) - floats.LogSumExp(row)
		floats.AddConst(shift, row)
		return append(row[:len(row):len(row)], math.Log1p(-p)), append(sensitive[:len(sensitive):len(sensitive)], word)
	}
	law := func(epsilon float64) distanceLaw { return distanceLaw{epsilon / 2, math.Inf(1)} }
	full := newSelector(s, g, env.Space.Vocabulary, distanceBasis(env.Space), scores)
	if n > fullWords {
		full.sampler = newHeadTail(full.sampler.(*selector), env.Space, law, &outputSet{sensitive, isSensitive, p})
	}
	return full, nil
}

// rarestWords returns the words of the space that are in the rarest share w of
// the vocabulary, by ascending id. The vocabulary is that of the corpus plus
// the words of the space that never occur, which count as the rarest.
func rarestWords(env Environment, w float64) (rarest []WordID, isRarest []bool) {
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
	isRarest = make([]bool, env.Space.Len())
	for _, word := range order[len(order)-int(w*float64(len(order))):] {
		if id := env.Space.Vocabulary.ID(word); id != embeddings.Unknown {
			isRarest[id] = true
		}
	}
	for id, yes := range isRarest {
		if yes {
			rarest = append(rarest, WordID(id))
		}
	}
	return rarest, isRarest
}
