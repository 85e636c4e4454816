package measure

import (
	"context"
	"math"

	"mldpbench/experiments/study"
	"mldpbench/internal/params"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

// Model is a classifier to train: its name and all of its parameters.
type Model struct {
	Name       string
	Parameters map[string]any // resolved
}

// Text is the parameters as rows have them.
func (m Model) Text() string {
	if m.Name == "" {
		return ""
	}
	return params.Format(m.Parameters)
}

// NewModel returns a model of a study with its defaults. They are part of its
// identity: with other defaults it is a different unit.
func NewModel(m study.ModelSpec) Model {
	parameters, _ := m.Resolve() // checked
	return Model{Name: m.Name, Parameters: parameters}
}

// Trained is a classifier after Fit.
type Trained struct {
	Model   models.Classifier
	History models.History
}

// Train fits a classifier of the given number of classes. Models of sequences
// read embedding; its zero value is fine for dense vectors.
func Train(ctx context.Context, m Model, classes int, embedding models.Embedding, seed stream.Seed, training,
	validation models.Examples) (*Trained, error) {
	c, err := models.New(m.Name, models.Options{Classes: classes, Embedding: embedding, Seed: seed,
		Parameters: m.Parameters})
	if err != nil {
		return nil, err
	}
	h, err := c.Fit(ctx, training, validation)
	if err != nil {
		return nil, err
	}
	return &Trained{c, h}, nil
}

// ValidationAccuracy returns that of the chosen epoch or parameter, a share;
// NaN if the model does not validate.
func (t *Trained) ValidationAccuracy() float64 {
	h := t.History
	if h.Best >= 0 && h.Best < len(h.Epochs) {
		return h.Epochs[h.Best].ValidationAccuracy
	}
	if v, ok := h.Chosen["validation_accuracy"]; ok {
		return v
	}
	return math.NaN()
}

// Score is the performance of a classifier.
type Score struct {
	Correct, Total int
	Right          []bool  // of each example
	AUC            float64 // of two classes; NaN else
}

// Accuracy returns the share of correct examples.
func (s Score) Accuracy() float64 { return float64(s.Correct) / float64(s.Total) }

// Test scores a classifier.
func Test(ctx context.Context, c models.Classifier, classes int, x models.Examples) (Score, error) {
	s := Score{Total: len(x.Labels), AUC: math.NaN()}
	scores, err := c.Score(ctx, x)
	if err != nil {
		return s, err
	}
	predicted := make([]int, len(scores))
	for i, row := range scores {
		for j, v := range row {
			if v > row[predicted[i]] {
				predicted[i] = j
			}
		}
	}
	if s.Correct, err = metrics.Correct(predicted, x.Labels); err != nil {
		return s, err
	}
	s.Right = make([]bool, len(predicted))
	for i, p := range predicted {
		s.Right[i] = p == x.Labels[i]
	}
	if classes != 2 {
		return s, nil
	}
	margin, positive := make([]float64, len(scores)), make([]bool, len(scores))
	for i, row := range scores {
		margin[i], positive[i] = row[1]-row[0], x.Labels[i] == 1
	}
	s.AUC, err = metrics.AUC(margin, positive)
	return s, err
}
