package mechanisms

import (
	"math"
	"sync"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "custext",
		Title:    "CusText",
		Source:   "Chen et al. 2023 (ACL Findings), Algorithms 1 and 2",
		Metric:   "discrete",
		Order:    110,
		Variants: []Variant{Proved, Released},
		Parameters: []Parameter{{
			Name:    "k",
			Default: 20.0,
			Legal:   "a whole number >= 1",
			Valid:   params.Whole(1, math.MaxInt32),
			Doc:     "words of a group; released: candidates of each word",
		}},
		PerWord: true,
		Needs:   Needs{Corpus: true},
		New:     newCusText,
	})
}

// newCusText builds the customised exponential mechanism: a word x becomes a
// word y of its candidates with Pr[y] ∝ exp((ε/2)·u(x,y)), where
// u(x,y) = 1 − (d(x,y) − d_min)/(d_max − d_min), with d_min and d_max over the
// candidates of x; u is 1 for all where they are equal. u lies in [0, 1], so
// its sensitivity is at most 1. CusText+ is KeepWords of this with stop words.
//
//   - Proved: the candidates are groups (the source's simple mapping,
//     "conservative" in its code): walking the words from the most frequent in
//     the corpus, each word without a group and its k−1 nearest words without
//     one become a group; the last one may be smaller. Words of one group have
//     the same candidates, so it is ε-LDP between them; words of two groups
//     have no output in common.
//   - Released ("aggressive", the code's default): the candidates are the k
//     words nearest to x itself, so words differ in what they can become.
//
// The source's code publishes words outside the embedding, which is policy
// keep.
func newCusText(env Environment, s Settings) (*Mechanism, error) {
	k := int(s.Parameters["k"].(float64))
	space := env.Space
	var candidates func(word WordID) []WordID
	var g Guarantee
	if s.Variant == Proved {
		groups, err := frequencyGroups(env, k)
		if err != nil {
			return nil, err
		}
		candidates = func(word WordID) []WordID { return groups.members[groups.of[word]] }
		g = groups.guarantee(s.Epsilon)
	} else {
		g = Guarantee{Reason: "the candidates are the word's own nearest words: " +
			"an output of one word is impossible for another"}
		candidates = ownCandidates(space, k)
	}
	of := func(word WordID, _ []float64) ([]float64, []WordID) {
		ids := candidates(word)
		row := make([]float64, len(ids))
		least := math.Inf(1)
		largest := 0.0
		for i, y := range ids {
			row[i] = space.Distance(word, y)
			least = min(least, row[i])
			largest = max(largest, row[i])
		}
		for i, d := range row {
			u := 1.0
			if largest > least {
				u = 1 - (d-least)/(largest-least)
			}
			row[i] = s.Epsilon / 2 * u
		}
		return row, ids
	}
	return ByScores(s, g, Scores{Vocabulary: space.Vocabulary, Of: of}), nil
}

// frequencyKey is the number of words of a group.
type frequencyKey int

// frequencyGroups are the groups of k words from the most frequent word of the
// corpus on.
func frequencyGroups(env Environment, k int) (*groups, error) {
	return once(env, frequencyKey(k), func() (*groups, error) {
		return groupsOf(env.Space, byFrequency(env), k), nil
	})
}

// ownCandidates returns the k words nearest to a word, itself first. All words are
// searched for together, with the first.
func ownCandidates(space *embeddings.Space, k int) func(word WordID) []WordID {
	lists := neighborsOf(space, ownFirst)
	every := sync.OnceFunc(func() { lists.search(space.Vocabulary.IDs(), k) })
	return func(word WordID) []WordID {
		every()
		var ids []WordID
		for _, c := range lists.of(word, k) {
			ids = append(ids, c.ID)
		}
		return ids
	}
}
