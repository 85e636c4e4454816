package measure

import (
	"context"
	"math"

	"mldpbench/embeddings"
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

func init() {
	Register(Measurement{
		Name: "text", Version: 2, Setting: true, Columns: columns("pp", "tokens_unknown"),
		Asked:   func(*study.Study, *study.Scene) (any, bool) { return nil, true },
		Applies: hasText,
		Measure: measureText,
	})
}

// hasText is true of releases of words.
func hasText(s *Spec, _ *Query) bool { return s.Definition().NewVector == nil }

// measureText counts the changed tokens, PP, and those without a vector.
func measureText(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if !c.InPlace {
		return []results.Row{unmeasured(row, "pp", "tokens do not align with the original")}, nil
	}
	vocabulary := r.batch.mechanism.Vocabulary()
	changed, total, unknown := make([]int, len(c.Before)), make([]int, len(c.Before)), 0
	for i, document := range c.Before {
		total[i] = len(document)
		for j, t := range document {
			if c.Aligned[i][j] != t { // a word that was removed is changed: the reader does not see it
				changed[i]++
			}
			if vocabulary.ID(t) == embeddings.Unknown {
				unknown++
			}
		}
	}
	pp := ofDocuments(changed, total)
	without := results.Number(float64(unknown))
	without.Part, without.Whole = unknown, pp.Whole
	return []results.Row{row.Of("pp", pp), row.Of("tokens_unknown", without)}, nil
}
