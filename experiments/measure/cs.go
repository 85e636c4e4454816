package measure

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/results"
)

// CSOptions are the options of the cosine similarity of sentences.
type CSOptions struct {
	Encoder   string `yaml:"encoder,omitempty" json:"encoder"`                        // of mldp data list, or sif
	Documents int    `yaml:"documents,omitempty" json:"documents" limits:"0,1000000"` // sampled
}

func init() {
	Register(Measurement{
		Name: "cs", Version: 1, Setting: true, Columns: columns("cs"),
		Metric: study.Metric{Key: "cs", New: func() any { return &CSOptions{} }, Check: checkCS},
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

// measureCS compares a sample of documents with their privatised form. The
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
	originals, err := lab.Once(&r.Lab.Shared, key, func() ([][]float32, error) { return e.Encode(ctx, sentences(c.Before)) })
	if err != nil {
		return nil, fmt.Errorf("cs: %w", err)
	}
	encoded, err := e.Encode(ctx, sentences(c.After))
	if err != nil {
		return nil, fmt.Errorf("cs: %w", err)
	}
	s, deviation := sentenceSimilarity(originals, encoded)
	m := results.Number(s.Estimate).Within(s.Low, s.High)
	m.Whole, m.Detail = len(sample), e.Name()
	if d := results.Float(deviation); d.Known() {
		m.Note = "standard deviation " + d.String()
	}
	return []results.Row{r.Row(q).Of("cs", m)}, nil
}

// sentenceSimilarity is the mean cosine of documents and their privatised forms in
// percent, from their sentence vectors, with its 95% t interval and the standard
// deviation (Meisenbacher et al. 2024 §4.1.3). Of one document both are unknown.
func sentenceSimilarity(originals, noisy [][]float32) (interval stats.Interval, deviation float64) {
	cosines := make([]float64, len(noisy))
	for i := range noisy {
		cosines[i] = 100 * metrics.Cosine(originals[i], noisy[i])
	}
	if interval = stats.MeanInterval(cosines, 0.95); len(noisy) == 1 {
		interval.Low, interval.High = math.NaN(), math.NaN()
	}
	return interval, stat.StdDev(cosines, nil)
}
