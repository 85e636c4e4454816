// Package model is a template: copy it, and import it in cmd/mldp.
package model

import (
	"context"
	"math"
	"slices"

	"mldpbench/models"
)

func init() {
	models.Register(models.Definition{
		Name:    "majority",
		Vectors: true,
		New:     func(o models.Options) models.Classifier { return &majority{Shares: make([]float64, o.Classes)} },
	})
}

// majority finds the most frequent class, whatever the text.
type majority struct{ Shares []float64 }

func (m *majority) Fit(ctx context.Context, train, _ models.Examples) (models.History, error) {
	for _, label := range train.Labels {
		m.Shares[label] += 1 / float64(len(train.Labels))
	}
	return models.History{Best: -1, Accuracy: math.NaN()}, ctx.Err()
}

func (m *majority) Score(ctx context.Context, x models.Examples) ([][]float64, error) {
	return slices.Repeat([][]float64{m.Shares}, len(x.Sequences)+len(x.Vectors)), ctx.Err()
}
