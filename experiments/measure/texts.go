package measure

import (
	"context"
	"math"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models/transformer"
	"mldpbench/results"
	"mldpbench/results/quantity"
)

// causalOptions are those of causal perplexity.
type causalOptions struct {
	Model string `json:"model"`
}

func (o *causalOptions) ref() lab.ModelRef {
	return lab.ModelRef{
		Key:  "causal",
		Name: o.Model,
		Task: transformer.LogProb,
	}
}

// textResamples are those of documents, for intervals.
const textResamples = 1000

// BLEU and the perplexity of a causal model.
func init() {
	Register(Measurement{
		Name:    "bleu",
		Version: 1,
		Quantities: []quantity.Quantity{{
			Name:      "bleu",
			Title:     "BLEU",
			Direction: quantity.Up,
			Digits:    1,
			Threshold: 2,
			Table:     "texts",
		}},
		Metric: study.Metric{
			Key: "bleu",
			Doc: "measures that hold the released test text against the original.",
			New: func() any { return &struct{}{} },
		},
		Measure: func(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
			return r.ofTexts(ctx, q, "bleu", func(before, after []string) (results.Measured, error) {
				references := list.Map(before, func(d string) []string { return []string{d} })
				v, err := metrics.BLEU(after, references, metrics.Bootstrap{
					Resamples: textResamples,
					Level:     0.95,
					Seed:      r.Root().Derive("texts", "resamples"),
				})
				m := results.Number(v.Estimate).Within(v.Low, v.High)
				m.Ceiling = results.Float(100)
				return m, err
			})
		},
	})
	Register(Measurement{
		Name:    "causal_perplexity",
		Version: 1,
		Quantities: []quantity.Quantity{{
			Name:      "causal_perplexity",
			Title:     "perplexity per word, causal model",
			Direction: quantity.Down,
			Digits:    1,
			Table:     "texts",
		}},
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			return &causalOptions{Model: scene.Causal}, scene.Causal != ""
		},
		Needs: func(_ *Spec, q *Query) []lab.Resource {
			return []lab.Resource{lab.OfModel(q.Options.(*causalOptions).ref())}
		},
		Measure: measureCausal,
	})
}

// ofTexts is the row of a measure that holds the released test text against the
// original.
func (r *Release) ofTexts(ctx context.Context, q *Query, quantity string,
	measure func(before, after []string) (results.Measured, error)) ([]results.Row, error) {
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	if text[2] == nil {
		return []results.Row{unmeasured(r.Row(q), quantity, "no setting privatises the test text")}, nil
	}
	m, err := measure(list.Map(r.Corpus.Tokens[2], joined), list.Map(text[2], joined))
	m.Whole = len(text[2])
	return []results.Row{r.Row(q).Of(quantity, m)}, err
}

// measureCausal is the perplexity of the median document, per word: per piece,
// random words would seem likely, as they are cut into many pieces of which each
// follows from those before it.
func measureCausal(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*causalOptions)
	model, err := r.Lab.Model(ctx, o.ref())
	if err != nil {
		return nil, err
	}
	median := func(texts []string) (stats.Interval, error) {
		logs, err := model.Encode(ctx, texts)
		v := metrics.MedianLogPerplexity(numbers[int](len(logs)), func(i int) (sum float64, words int) {
			for _, x := range logs[i] {
				sum += float64(x)
			}
			return sum, len(strings.Fields(texts[i]))
		})
		return stats.Interval{
			Estimate: math.Exp(v.Estimate),
			Low:      math.Exp(v.Low),
			High:     math.Exp(v.High),
		}, err
	}
	return r.ofTexts(ctx, q, "causal_perplexity", func(before, after []string) (m results.Measured, err error) {
		key := engine.MakeID("causal", r.Corpus.Fingerprint, o)
		plain, err := memo.Once(&r.Lab.Shared, key, func() (stats.Interval, error) {
			return median(before)
		})
		if err != nil {
			return m, err
		}
		v, err := median(after)
		m = results.Number(v.Estimate).Within(v.Low, v.High)
		m.Ceiling = results.Float(plain.Estimate)
		m.Detail = model.Name()
		return m, err
	})
}
