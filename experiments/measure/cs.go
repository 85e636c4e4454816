package measure

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/stat"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results"
)

// CSOptions are the options of the cosine similarity of sentences.
type CSOptions struct {
	Encoder   string `yaml:"encoder,omitempty" json:"encoder"`                        // of mldp data list, or sif
	Documents int    `yaml:"documents,omitempty" json:"documents" limits:"0,1000000"` // sampled
}

// The cosine similarity of sentences.
func init() {
	Register(Measurement{
		Name:       "cs",
		Version:    1,
		Setting:    true,
		Quantities: quantities("cs"),
		Metric: study.Metric{
			Key: "cs",
			Doc: "the cosine similarity of sentences.",
			Options: map[string]string{
				"encoder": "a folder with model.onnx and tokenizer.json, a name of sentence-transformers, or " +
					"sif",
				"documents": "sampled",
			},
			New:   func() any { return &CSOptions{} },
			Check: checkCS,
		},
		Applies: func(s *Spec, q *Query) bool {
			return hasText(s, q) && q.Options.(*CSOptions).Documents > 0
		},
		Needs: func(_ *Spec, q *Query) []lab.Resource {
			return []lab.Resource{lab.OfEncoder(q.Options.(*CSOptions).Encoder)}
		},
		Measure: measureCS,
	})
}

func checkCS(options any, _ *study.Design, at study.At) error {
	if o := options.(*CSOptions); o.Documents > 0 && o.Encoder == "" {
		return at(errors.New("metrics.cs: documents without an encoder"), "")
	}
	return nil
}

// measureCS compares a sample of documents with their privatised form: the mean cosine
// of their sentence vectors in percent (Meisenbacher et al. 2024 §4.1.3). The
// sample depends only on the data set, so originals are encoded once and
// mechanisms are compared on equal documents.
func measureCS(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*CSOptions)
	c, err := r.Compare(ctx, q.Setting)
	if err != nil {
		return nil, err
	}
	e, err := r.Lab.Encoder(ctx, o.Encoder, r.Corpus, r.Space)
	if err != nil {
		return nil, fmt.Errorf("cs: %w", err)
	}
	sample := metrics.SampleWords(numbers[int](len(c.Before)), o.Documents, r.Root().Derive("cs", r.dataName()).Rand())
	sentences := func(documents [][]string) []string {
		return list.Map(sample, func(d int) string { return joined(documents[d]) })
	}
	key := engine.MakeID("originals", r.Corpus.Fingerprint, r.Space.Fingerprint(), r.Dataset.Name, q.Setting, o,
		r.Root())
	originals, err := memo.Once(&r.Lab.Shared, key, func() ([][]float32, error) {
		return e.Encode(ctx, sentences(c.Before))
	})
	if err != nil {
		return nil, fmt.Errorf("cs: %w", err)
	}
	encoded, err := e.Encode(ctx, sentences(c.After))
	if err != nil {
		return nil, fmt.Errorf("cs: %w", err)
	}
	cosines := make([]float64, len(sample))
	for i := range sample {
		cosines[i] = 100 * metrics.Cosine(originals[i], encoded[i])
	}
	m := meanOf(cosines)
	m.Detail = e.Name()
	if d := results.Float(stat.StdDev(cosines, nil)); d.Known() {
		m.Note = "standard deviation " + d.String()
	}
	return []results.Row{r.Row(q).Of("cs", m)}, nil
}

// meanOf is the mean of numbers, one for each document, with its 95% t interval. Of one
// document that is unknown.
func meanOf(x []float64) results.Measured {
	v := stats.MeanInterval(x, 0.95)
	m := results.Number(v.Estimate)
	m.Whole = len(x)
	if len(x) > 1 {
		m = m.Within(v.Low, v.High)
	}
	return m
}
