package words

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/memo"
	"mldpbench/metrics"
	"mldpbench/models/attack"
)

// nearlyRepeats is the Jaccard similarity of words above which a training text would tell
// the words of another document: they would be looked up.
const nearlyRepeats = 0.3

// knownKey is that of the known texts.
type knownKey struct{}

// known is what is known of words in context: the shadow text, and of the training text
// what nearly repeats no document of the other splits.
func known(t *attack.Target) [][]int32 {
	texts, _ := memo.Once(&t.Corpus.Cache, knownKey{}, func() ([][]int32, error) {
		train := attack.WordsOf(t.Corpus.Train)
		others := attack.WordsOf(slices.Concat(t.Corpus.Validation, t.Corpus.Test))
		all := slices.Clone(t.Corpus.Shadow)
		for _, i := range metrics.Unrelated(train, others, nearlyRepeats) {
			all = append(all, train[i])
		}
		return all, nil
	})
	return texts
}

// topics are known texts by the words in them: what a text is about makes its words
// likelier.
type topics struct {
	prior []float64
	texts [][]int32       // words of the mechanism
	with  [][]occurrences // by word
}

// occurrences are how often a word is in a text.
type occurrences struct {
	text  int32
	share float64 // of its words
}

// topicsKey is that of the topics.
type topicsKey struct{}

// topicsOf are those of the known texts.
func topicsOf(t *attack.Target) *topics {
	out, _ := memo.Once(&t.Corpus.Cache, topicsKey{}, func() (*topics, error) {
		texts := known(t)
		out := &topics{t.Prior(), make([][]int32, len(texts)), make([][]occurrences, t.Words.Count)}
		for i, d := range texts {
			out.add(i, slices.DeleteFunc(slices.Clone(d), func(w int32) bool { return !t.Words.Known(w) }))
		}
		return out, nil
	})
	return out
}

// add counts the words of the text of a number; texts are added in order.
func (t *topics) add(number int, words []int32) {
	t.texts[number] = words
	for _, w := range words {
		n := len(t.with[w])
		if n == 0 || t.with[w][n-1].text != int32(number) {
			t.with[w] = append(t.with[w], occurrences{text: int32(number)})
			n++
		}
		t.with[w][n-1].share += 1 / float64(len(words))
	}
}

// Sizes of a topic: its texts at most; the share of the words of a text that are taken to
// be drawn from another about the same; the exponent of likelihoods, as the words of a
// text do not depend on its topic alone; the least posterior of a candidate that counts.
const (
	topicTexts    = 300
	topicShare    = 0.3
	topicExponent = 0.25
	leastOfTopic  = 1e-3
)

// adapt writes the topic of a text, of which posteriors are known, to candidates: ln(½ +
// ½·t(x)/π(x)), where t are the frequencies of words in the most similar known texts,
// weighed by similarity.
func (t *topics) adapt(c chain, posteriors [][]float64, to [][]candidate) {
	weight, total := t.frequencies(t.similarities(c, posteriors))
	if total <= 0 {
		return
	}
	for i := range to {
		for k := range to[i] {
			x := &to[i][k]
			if int(x.word) < len(t.prior) {
				x.topic = math.Log((1 + weight[x.word]/total/t.prior[x.word]) / 2)
			}
		}
	}
}

// similarities are, by known text m, the likelihood of the posteriors where a share a of the
// words is drawn from m, over that where none is: Σ_i ln(1 + a/(1−a)·Σ_x p_i(x)·m(x)/π(x)).
func (t *topics) similarities(c chain, posteriors [][]float64) []float64 {
	similar := make([]float64, len(t.texts))
	ratio := make([]float64, len(t.texts))
	var met []int32
	for i, p := range posteriors {
		met = met[:0]
		for k, v := range p {
			w := c.positions[i][k].word
			if v < leastOfTopic || int(w) >= len(t.with) {
				continue
			}
			for _, o := range t.with[w] {
				if ratio[o.text] == 0 {
					met = append(met, o.text)
				}
				ratio[o.text] += float64(v * o.share / t.prior[w])
			}
		}
		for _, m := range met {
			similar[m] += math.Log1p(topicShare / (1 - topicShare) * ratio[m])
			ratio[m] = 0
		}
	}
	return similar
}

// frequencies are those of words in the most similar texts, weighed by similarity, and
// their sum.
func (t *topics) frequencies(similar []float64) (weight []float64, total float64) {
	order := mostSimilar(similar)
	weight = make([]float64, len(t.prior))
	for _, m := range order {
		likelihood := math.Exp(topicExponent * (similar[m] - similar[order[0]]))
		for _, w := range t.texts[m] {
			weight[w] += likelihood
			total += likelihood
		}
	}
	return weight, total
}

// mostSimilar are the texts of highest similarity above 0, the first among equals, the highest first.
func mostSimilar(similar []float64) []int32 {
	before := func(a, b int32) int {
		if similar[a] != similar[b] {
			return cmp.Compare(similar[b], similar[a])
		}
		return cmp.Compare(a, b)
	}
	var order []int32
	for m, v := range similar {
		full := len(order) == topicTexts
		if v <= 0 || full && v <= similar[order[topicTexts-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(order, int32(m), before)
		order = slices.Insert(order, at, int32(m))[:min(topicTexts, len(order)+1)]
	}
	return order
}
