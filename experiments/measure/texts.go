package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/metrics"
	"mldpbench/models/transformer"
	"mldpbench/results"
	"mldpbench/stream"
)

// textOptions are those of measures that hold the released test text against
// the original.
type textOptions struct {
	Documents int    `yaml:"documents,omitempty" json:"documents" limits:"0,1000000"` // sampled; 0: all
	Encoder   string `yaml:"encoder,omitempty" json:"encoder,omitempty"`              // of BERTScore
	Model     string `yaml:"-" json:"model,omitempty"`                                // the causal model
}

// ref is the model that they need, nil for none.
func (o *textOptions) ref() *lab.ModelRef {
	switch {
	case o.Model != "":
		return &lab.ModelRef{Key: "causal_model", Folder: o.Model, Task: transformer.Causal}
	case o.Encoder != "":
		return &lab.ModelRef{Key: "encoder", Folder: o.Encoder}
	}
	return nil
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
	{"chrf", []results.Column{{Name: "chrf", Title: "chrF", Direction: results.Up, Digits: 1, Threshold: 2,
		Table: "texts"}}, ofCorpus(metrics.ChrF)},
	{"rouge_l", []results.Column{{Name: "rouge_l", Title: "ROUGE-L", Direction: results.Up, Digits: 1, Threshold: 2,
		Table: "texts"}}, func(_ context.Context, _ *Release, _ *textOptions, p pairOfTexts) ([]results.Measured, error) {
		v, err := metrics.RougeL(p.after, p.before)
		return []results.Measured{measured(v, 100)}, err
	}},
	{"bertscore", []results.Column{{Name: "bertscore", Title: "BERTScore F1", Unit: "×100", Direction: results.Up,
		Digits: 1, Threshold: 2, Table: "texts"}, {Name: "bertscore_precision"}, {Name: "bertscore_recall"}},
		measureBERTScore},
	{"causal_perplexity", []results.Column{{Name: "causal_perplexity", Title: "perplexity per word, causal model",
		Direction: results.Down, Digits: 1, Table: "texts"}}, measureCausal},
}

func init() {
	for _, t := range textMeasures {
		m := Measurement{
			Name: t.name, Version: 1, Columns: t.columns, Applies: hasText,
			Needs: func(_ *Spec, q *Query) (needs []lab.Resource) {
				if ref := q.Options.(*textOptions).ref(); ref != nil {
					needs = []lab.Resource{lab.OfModel(*ref)}
				}
				return needs
			},
			Measure: func(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
				return t.rows(ctx, r, q)
			},
		}
		if t.name == "causal_perplexity" {
			m.Asked = func(_ *study.Study, scene *study.Scene) (any, bool) {
				return &textOptions{Model: scene.CausalModel}, scene.CausalModel != ""
			}
		} else {
			m.Metric = study.Metric{Key: t.name, New: func() any { return &textOptions{} },
				Check: func(options any, _ *study.Design, at study.At) error {
					if encoder := options.(*textOptions).Encoder; (t.name == "bertscore") != (encoder != "") {
						return at(errors.New("encoder: a folder for bertscore, and for it alone"), "encoder")
					}
					return nil
				}}
		}
		Register(m)
	}
}

// rows are those of one measure, on a sample of test documents that is the same
// for all mechanisms.
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
	sample := numbers[int](len(text[2]))
	if o.Documents > 0 {
		sample = metrics.SampleWords(sample, o.Documents, r.Root().Derive("texts", r.Dataset.Name).Rand())
	}
	var p pairOfTexts
	for _, i := range sample {
		p.before, p.after = append(p.before, joined(r.Corpus.Tokens[2][i])), append(p.after, joined(text[2][i]))
	}
	list, err := t.measure(ctx, r, o, p)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	var rows []results.Row
	for i, m := range list {
		m.Whole = len(sample)
		rows = append(rows, row.Of(t.columns[i].Name, m))
	}
	return rows, nil
}

// measured is a number with its interval; ceiling is that of the original.
func measured(v metrics.Interval, ceiling float64) results.Measured {
	m := results.Number(v.Estimate).Within(v.Low, v.High)
	m.Ceiling = results.Float(ceiling)
	return m
}

// ofCorpus is a measure of all documents as one, with its interval over them.
func ofCorpus(score func(hypotheses []string, references [][]string, resamples int, level float64,
	seed stream.Seed) (metrics.Interval, error)) func(context.Context, *Release, *textOptions, pairOfTexts) (
	[]results.Measured, error) {
	return func(_ context.Context, r *Release, _ *textOptions, p pairOfTexts) ([]results.Measured, error) {
		references := list.Map(p.before, func(d string) []string { return []string{d} })
		s, err := score(p.after, references, textResamples, 0.95, r.Root().Derive("texts", "resamples"))
		return []results.Measured{measured(s, 100)}, err
	}
}

func measureBERTScore(ctx context.Context, r *Release, o *textOptions, p pairOfTexts) ([]results.Measured, error) {
	model, err := r.Lab.Model(*o.ref())
	if err != nil {
		return nil, err
	}
	before, err := model.TokenVectors(ctx, p.before)
	if err != nil {
		return nil, err
	}
	after, err := model.TokenVectors(ctx, p.after)
	if err != nil {
		return nil, err
	}
	s, err := metrics.MeasureBERTScore(before, after)
	list := []results.Measured{measured(s.F1, 100), measured(s.Precision, 100), measured(s.Recall, 100)}
	for i := range list {
		list[i].Detail = model.Name()
	}
	return list, err
}

// measureCausal is the perplexity of the median document, per word: per piece,
// random words would seem likely, as they are cut into many pieces of which each
// follows from those before it.
func measureCausal(ctx context.Context, r *Release, o *textOptions, p pairOfTexts) ([]results.Measured, error) {
	model, err := r.Lab.Model(*o.ref())
	if err != nil {
		return nil, err
	}
	median := func(texts []string) (metrics.Interval, error) {
		logs, err := model.CausalLogProbs(ctx, texts)
		v := metrics.MedianLogPerplexity(numbers[int](len(logs)), func(i int) (sum float64, words int) {
			for _, x := range logs[i] {
				sum += x
			}
			return sum, len(strings.Fields(texts[i]))
		})
		return metrics.Interval{Estimate: math.Exp(v.Estimate), Low: math.Exp(v.Low), High: math.Exp(v.High)}, err
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
