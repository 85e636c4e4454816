package evaluate

import (
	"context"
	"math"

	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/models/ngram"
	"mldpbench/results"
	"mldpbench/stream"
)

// order of the language model: pairs of words, as in the attacks.
const order = 2

// traces are properties of a text itself: its fluency and its overlap with the
// original.
type traces struct {
	perplexity  results.Float // of the median document
	overlap     results.Float // words in both texts among those in either, mean over documents, in percent
	linked      results.Float // documents whose original is the most similar, in percent
	linkedGuess results.Float // the same for an attacker that guesses at random
}

// numbers assigns an id to every word. Words that occur once in the original
// are unknown to the language model, which thus learns the probability of
// unknown words.
type numbers struct {
	of    map[string]int32
	known int // the first so many are those of the language model
}

func (n *numbers) ids(documents [][]string) [][]int32 {
	out := make([][]int32, len(documents))
	for i, d := range documents {
		out[i] = make([]int32, len(d))
		for j, w := range d {
			id, ok := n.of[w]
			if !ok {
				id = int32(len(n.of))
				n.of[w] = id
			}
			out[i][j] = id
		}
	}
	return out
}

// learn trains the language model on the original training documents and
// assigns ids to the original's words.
func (e *evaluation) learn() error {
	train := e.original[:len(e.data.Train)]
	counts := map[string]int{}
	for _, d := range train {
		for _, w := range d {
			counts[w]++
		}
	}
	e.numbers = numbers{of: map[string]int32{}}
	for _, d := range train { // in order, because maps have none
		for _, w := range d {
			if _, met := e.numbers.of[w]; !met && counts[w] > 1 {
				e.numbers.of[w] = int32(len(e.numbers.of))
			}
		}
	}
	e.numbers.known = len(e.numbers.of)
	e.plainIDs = e.numbers.ids(e.original)
	if e.numbers.known == 0 {
		return nil // nothing to learn from
	}
	var err error
	e.language, err = ngram.Train(e.plainIDs[:len(train)], e.numbers.known, order)
	return err
}

// trace measures one version, or the original against itself.
func (e *evaluation) trace(ctx context.Context, tokens [][]string) (traces, error) {
	t := traces{results.Missing, results.Missing, results.Missing, results.Missing}
	noisy := e.numbers.ids(tokens)
	if e.language != nil {
		test := noisy[len(noisy)-len(e.data.Test):] // not used in training
		t.perplexity = results.Float(math.Exp(metrics.MedianLogPerplexity(test, e.language.LogProbability).Estimate))
	}
	s := attack.Situation{
		Release: func(context.Context, [][]int32, stream.Seed) ([][]int32, error) { return noisy, nil },
		Seed:    e.seed.Derive("attack"), DataSeed: e.seed.Derive("data"),
	}
	for _, d := range e.plainIDs { // no model is trained, so all are attacked
		s.Test = append(s.Test, attack.Document{Words: d})
	}
	outcomes, err := attack.RunAll(ctx, []string{"overlap", "linkage-tfidf"}, s)
	for _, o := range outcomes {
		share := results.Float(100 * o.Value.Estimate)
		switch o.Column {
		case "overlap-jaccard":
			t.overlap = share
		case "linkage-tfidf-p1":
			t.linked, t.linkedGuess = share, results.Float(100*o.Floor)
		}
	}
	return t, err
}
