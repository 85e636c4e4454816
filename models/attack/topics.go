package attack

import (
	"cmp"
	"math"
	"slices"

	"mldpbench/internal/list"
	"mldpbench/metrics"
)

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

// nearlyRepeats is the Jaccard similarity of words above which a training text would tell
// the words of another document: they would be looked up.
const nearlyRepeats = 0.3

// language is what is known of words in context: the shadow text, and of the training text
// what nearly repeats no document of the other splits.
func (s *Situation) language() [][]int32 {
	known, _ := once(s.Plain, "language", func() ([][]int32, error) {
		train, others := wordsOf(s.Train), wordsOf(slices.Concat(s.Validation, s.Test))
		return slices.Concat(s.Shadow, list.Map(metrics.Unrelated(train, others, nearlyRepeats),
			func(i int) []int32 { return train[i] })), nil
	})
	return known
}

func (s *Situation) topics() *topics {
	t, _ := once(s.Plain, "topics", func() (*topics, error) {
		known := s.language()
		t := &topics{s.prior(), make([][]int32, len(known)), make([][]occurrences, s.Words)}
		for i, d := range known {
			t.texts[i] = slices.DeleteFunc(slices.Clone(d), func(w int32) bool { return !s.knows(w) })
			for _, w := range t.texts[i] {
				if n := len(t.with[w]); n == 0 || t.with[w][n-1].text != int32(i) {
					t.with[w] = append(t.with[w], occurrences{text: int32(i)})
				}
				t.with[w][len(t.with[w])-1].share += 1 / float64(len(t.texts[i]))
			}
		}
		return t, nil
	})
	return t
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
// weighed by similarity: the likelihood of the posteriors where a share a of the words is
// drawn from a text m, over that where none is: Π_i (1 − a + a·Σ_x p_i(x)·m(x)/π(x)).
func (t *topics) adapt(c chain, posteriors [][]float64, to [][]candidate) {
	similar, ratio := make([]float64, len(t.texts)), make([]float64, len(t.texts))
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
	order := make([]int32, 0, len(similar))
	for m, v := range similar {
		if v > 0 {
			order = append(order, int32(m))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(similar[b], similar[a]), cmp.Compare(a, b)) })
	weight, total := map[int32]float64{}, 0.0
	for _, m := range order[:min(topicTexts, len(order))] {
		of := math.Exp(topicExponent * (similar[m] - similar[order[0]]))
		for _, w := range t.texts[m] {
			weight[w] += of
			total += of
		}
	}
	for i := range to {
		for k := range to[i] {
			if x := &to[i][k]; total > 0 && int(x.word) < len(t.prior) {
				x.topic = math.Log((1 + weight[x.word]/total/t.prior[x.word]) / 2)
			}
		}
	}
}
