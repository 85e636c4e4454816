package measure

import (
	"context"
	"math"

	"mldpbench/experiments/study"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/models/ngram"
	"mldpbench/results"
)

// pairs is the order of the language model of perplexity.
const pairs = 2

func init() {
	Register(Measurement{
		Name: "perplexity", Version: 1, Setting: true, Baseline: true,
		Columns: []results.Column{{Name: "perplexity", Title: "perplexity", Direction: results.Down, Digits: 1}},
		Metric: study.Metric{Key: "perplexity", Doc: "that of the median document, by a model of plain text; no options: {}",
			New: func() any { return &struct{}{} }},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && q.Setting != study.TrainOnly },
		Measure: measurePerplexity,
	})
}

// measurePerplexity is the perplexity of the median test document under a model
// of pairs of words of the original training text. Its vocabulary is every word
// of the original and of the private text, so a word that the training text
// does not have is one of many unlikely words, and not the one likely class of
// all of them.
func measurePerplexity(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	lexicon := attack.NewLexicon(r.Space.Vocabulary)
	words := r.Space.Vocabulary.Len()
	ids := func(documents [][]string) [][]int32 {
		out := make([][]int32, len(documents))
		for i, d := range documents {
			out[i] = lexicon.IDs(d)
			for _, w := range out[i] {
				words = max(words, int(w)+1)
			}
		}
		return out
	}
	ids(r.Corpus.Tokens[1])
	ids(r.Corpus.Tokens[2])
	train, test := ids(r.Corpus.Tokens[0]), ids(text[2])
	model, err := ngram.Train(train, words, pairs)
	if err != nil {
		return nil, err
	}
	median := metrics.MedianLogPerplexity(test, model.LogProbability)
	m := results.Number(math.Exp(median.Estimate)).Within(math.Exp(median.Low), math.Exp(median.High))
	m.Whole = len(test)
	return []results.Row{r.Row(q).Of("perplexity", m)}, nil
}
