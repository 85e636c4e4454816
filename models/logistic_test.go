package models

import (
	"context"
	"errors"
	"math"
	"testing"

	"mldpbench/stream"
)

func TestLogisticGradient(t *testing.T) {
	for _, classes := range []int{2, 3} {
		rng := stream.FromUint64(1).Rand()
		x := clouds(rng, 40, classes, 4, 1)
		o := Options{Classes: classes, Parameters: map[string]any{"iterations": 10, "tolerance": 1e-4}}
		l := newLogisticTrainer(stack(x.Vectors), x.Labels, o).(*logisticTrainer)
		w := make([]float64, len(l.weights))
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		gradient := make([]float64, len(w))
		l.objective(w, 2, gradient)
		for j := range w {
			const h = 1e-5
			at := w[j]
			w[j] = at + h
			up := l.objective(w, 2, nil)
			w[j] = at - h
			down := l.objective(w, 2, nil)
			w[j] = at
			want := (up - down) / (2 * h)
			if math.Abs(gradient[j]-want) > 1e-8*max(1, math.Abs(want)) {
				t.Errorf("%d classes: gradient[%d] = %v, central difference %v", classes, j, gradient[j], want)
			}
		}
	}
}

func TestLogisticStopsAtTheOptimum(t *testing.T) {
	x := clouds(stream.FromUint64(2).Rand(), 300, 3, 6, 1)
	o := Options{Classes: 3, Parameters: map[string]any{"iterations": 1000, "tolerance": 1e-7}}
	l := newLogisticTrainer(stack(x.Vectors), x.Labels, o).(*logisticTrainer)
	for _, c := range linearGrid {
		if _, err := l.train(context.Background(), c); err != nil {
			t.Fatal(err)
		}
		gradient := make([]float64, len(l.weights))
		l.objective(l.weights, c, gradient)
		for j, g := range gradient {
			if math.Abs(g) > 1e-6 {
				t.Errorf("c = %v: gradient[%d] = %v at the end", c, j, g)
			}
		}
	}
}

func TestLogisticScoresAreProbabilities(t *testing.T) {
	for _, classes := range []int{2, 4} {
		x := clouds(stream.FromUint64(3).Rand(), 80, classes, 4, 3)
		m, err := New("logistic", Options{Classes: classes})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Fit(context.Background(), x, x); err != nil {
			t.Fatal(err)
		}
		scores, err := m.Score(context.Background(), x)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range scores {
			sum := 0.0
			for _, p := range row {
				if !(p >= 0 && p <= 1) {
					t.Fatalf("score %v", row)
				}
				sum += p
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Fatalf("probabilities %v sum to %v", row, sum)
			}
		}
	}
}

func TestLogisticStopsWhenCancelled(t *testing.T) {
	x := clouds(stream.FromUint64(4).Rand(), 60, 2, 3, 2)
	m, _ := New("logistic", Options{Classes: 2})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Fit(ctx, x, x); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fit: %v", err)
	}
}
