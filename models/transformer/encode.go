package transformer

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// HasTokenVectors reports whether the graph gives a vector per token.
func (m *Model) HasTokenVectors() bool { return m.perToken.output != "" }

// Encode returns one vector per sentence. An encoder that gives vectors of
// tokens only is pooled as its folder says: the mean over all tokens, or the
// first. A text without any token gets the zero vector.
func (m *Model) Encode(ctx context.Context, sentences []string) ([][]float32, error) {
	if m.task != Encoder {
		return nil, fmt.Errorf("model %s: a model of the kind %s has no vectors of sentences", m.name, m.task)
	}
	vectors := make([][]float32, len(sentences))
	err := m.each(ctx, sentences, source{output: m.output}, func(i int, rows [][]float32) error {
		switch {
		case len(rows) == 0:
			vectors[i] = make([]float32, m.classes)
		case m.sentence || m.config.pooling.CLS:
			vectors[i] = slices.Clone(rows[0])
		default:
			vectors[i] = mean(rows)
		}
		if !finite(vectors[i]) {
			return fmt.Errorf("the vector of %.60q is not finite", sentences[i])
		}
		return nil
	})
	return vectors, err
}

// each runs texts and gives the rows of each to done; none for a text without
// tokens.
func (m *Model) each(ctx context.Context, texts []string, from source,
	done func(i int, rows [][]float32) error) error {
	var jobs []job
	var index []int
	for i, s := range texts {
		ids := m.encode(s)
		if len(ids) == 0 {
			if err := done(i, nil); err != nil {
				return err
			}
			continue
		}
		jobs, index = append(jobs, job{ids: ids}), append(index, i)
	}
	return m.run(ctx, jobs, from, func(k int, rows [][]float32) error { return done(index[k], rows) })
}

func mean(rows [][]float32) []float32 {
	sum := make([]float64, len(rows[0]))
	for _, row := range rows {
		for k, x := range row {
			sum[k] += float64(x)
		}
	}
	out := make([]float32, len(sum))
	for k, x := range sum {
		out[k] = float32(x / float64(len(rows)))
	}
	return out
}

func finite(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) })
}

// TokenVectors returns the vectors of each text's pieces, without those of the
// special tokens that the tokenizer puts around a text: of an encoder its
// output, of a language model what its last product takes. Texts are cut to
// the limit.
func (m *Model) TokenVectors(ctx context.Context, texts []string) ([][][]float32, error) {
	if !m.HasTokenVectors() {
		return nil, fmt.Errorf("model %s gives no vectors of tokens", m.name)
	}
	vectors := make([][][]float32, len(texts))
	err := m.each(ctx, texts, m.perToken, func(i int, rows [][]float32) error {
		if len(rows) <= len(m.before)+len(m.after) {
			return nil
		}
		vectors[i] = slices.Clone(rows[len(m.before) : len(rows)-len(m.after)])
		for _, v := range vectors[i] {
			if !finite(v) {
				return fmt.Errorf("a vector of %.60q is not finite", texts[i])
			}
		}
		return nil
	})
	return vectors, err
}
