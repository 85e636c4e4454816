package measure

import (
	"context"
	"fmt"
	"math"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models/transformer"
	"mldpbench/results"
	"mldpbench/stream"
)

// textOptions are those of measures that hold the released test text against
// the original.
type textOptions struct {
	Model string `yaml:"-" json:"model,omitempty"` // the causal model
}

// causal is the model of causal perplexity.
func (o *textOptions) causal() lab.ModelRef {
	return lab.ModelRef{Key: "causal", Name: o.Model, Task: transformer.LogProb}
}

// pairOfTexts are documents before and after, as text.
type pairOfTexts struct{ before, after []string }

// textMeasure is one of these measures; its rows are the first quantity, and
// others that nobody tabulates.
type textMeasure struct {
	name    string
	columns []results.Column
	measure func(ctx context.Context, r *Release, o *textOptions, p pairOfTexts) ([]results.Measured, error)
}

// resamples of documents, for intervals.
const textResamples = 1000

var textMeasures = []textMeasure{
	{"bleu", []results.Column{{Name: "bleu", Title: "BLEU", Direction: results.Up, Digits: 1, Threshold: 2,
		Table: "texts"}}, ofCorpus(metrics.BLEU)},
	{"causal_perplexity", []results.Column{{Name: "causal_perplexity", Title: "perplexity per word, causal model",
		Direction: results.Down, Digits: 1, Table: "texts"}}, measureCausal},
}

func init() {
	for _, t := range textMeasures {
		m := Measurement{
			Name: t.name, Version: 1, Columns: t.columns, Applies: hasText,
			Needs: func(_ *Spec, q *Query) (needs []lab.Resource) {
				if o := q.Options.(*textOptions); o.Model != "" {
					needs = []lab.Resource{lab.OfModel(o.causal())}
				}
				return needs
			},
			Measure: func(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
				return t.rows(ctx, r, q)
			},
		}
		if t.name == "causal_perplexity" {
			m.Asked = func(_ *study.Study, scene *study.Scene) (any, bool) {
				return &textOptions{Model: scene.Causal}, scene.Causal != ""
			}
		} else {
			m.Metric = study.Metric{Key: t.name, New: func() any { return &textOptions{} }}
		}
		Register(m)
	}
}

// rows are those of one measure, on the test documents.
func (t textMeasure) rows(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*textOptions)
	text, err := r.Text(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if text[2] == nil {
		return []results.Row{unmeasured(row, t.columns[0].Name, "no setting privatises the test text")}, nil
	}
	p := pairOfTexts{list.Map(r.Corpus.Tokens[2], joined), list.Map(text[2], joined)}
	list, err := t.measure(ctx, r, o, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	var rows []results.Row
	for i, m := range list {
		m.Whole = len(p.before)
		rows = append(rows, row.Of(t.columns[i].Name, m))
	}
	return rows, nil
}

// measured is a number with its interval; ceiling is that of the original.
func measured(v stats.Interval, ceiling float64) results.Measured {
	m := results.Number(v.Estimate).Within(v.Low, v.High)
	m.Ceiling = results.Float(ceiling)
	return m
}

// ofCorpus is a measure of all documents as one, with its interval over them.
func ofCorpus(score func(hypotheses []string, references [][]string, resamples int, level float64,
	seed stream.Seed) (stats.Interval, error)) func(context.Context, *Release, *textOptions, pairOfTexts) (
	[]results.Measured, error) {
	return func(_ context.Context, r *Release, _ *textOptions, p pairOfTexts) ([]results.Measured, error) {
		references := list.Map(p.before, func(d string) []string { return []string{d} })
		s, err := score(p.after, references, textResamples, 0.95, r.Root().Derive("texts", "resamples"))
		return []results.Measured{measured(s, 100)}, err
	}
}

// measureCausal is the perplexity of the median document, per word: per piece,
// random words would seem likely, as they are cut into many pieces of which each
// follows from those before it.
func measureCausal(ctx context.Context, r *Release, o *textOptions, p pairOfTexts) ([]results.Measured, error) {
	model, err := r.Lab.Model(ctx, o.causal())
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
		return stats.Interval{Estimate: math.Exp(v.Estimate), Low: math.Exp(v.Low), High: math.Exp(v.High)}, err
	}
	plain, err := lab.Once(r.Lab, engine.MakeID("causal", r.Corpus.Fingerprint, o), func() (float64, error) {
		v, err := median(p.before)
		return v.Estimate, err
	})
	if err != nil {
		return nil, err
	}
	v, err := median(p.after)
	m := measured(v, plain)
	m.Detail = model.Name()
	return []results.Measured{m}, err
}
