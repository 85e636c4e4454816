package models

import (
	"context"
	"math"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"mldpbench/stream"
)

func TestAveragedLearns(t *testing.T) {
	embedding, draw := topics(40, 3, 20, 10)
	train, val, test := draw(700, 12), draw(100, 12), draw(301, 12)
	test.Sequences[7] = nil
	for _, start := range []string{"embedding", "random"} {
		t.Run(start, func(t *testing.T) {
			o := Options{Classes: 3, Embedding: embedding, Seed: stream.FromUint64(41),
				Parameters: map[string]any{"init": start, "dimension": 8, "batch": 32, "learning_rate": 0.03}}
			m, err := New("averaged", o)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Fit(context.Background(), train, val); err != nil {
				t.Fatal(err)
			}
			p, err := m.Predict(context.Background(), test)
			if err != nil {
				t.Fatal(err)
			}
			if a := accuracy(p, test.Labels); a < 0.85 {
				t.Errorf("accuracy %v", a)
			}
			if trained(t, m) != fitted(t, "averaged", o, train, val) {
				t.Error("same seed, different weights")
			}
		})
	}
	if embedding.Vectors[0] != firstVector(40) {
		t.Error("training moved the embedding it was given")
	}
}

func firstVector(seed uint64) float32 {
	e, _ := topics(seed, 3, 20, 10)
	return e.Vectors[0]
}

func TestMeanRowsGradient(t *testing.T) {
	const n, d = 5, 3
	lengths := []int32{4, 2, 1, 0}
	ids := []int32{0, 1, 2, 0, 3, 0, 1, 4} // with repeats and one extra
	rows := newDense(tensor.Shape{n, d}, randomWeights[float64](42, n*d))
	weigh := randomWeights[float64](43, len(lengths)*d)

	building.Lock()
	g := gorgonia.NewGraph()
	rn := input(g, "rows", rows)
	mean, err := meanRows[float64](input(g, "tokens", vector(ids)), input(g, "lengths", vector(lengths)), rn)
	if err != nil {
		t.Fatal(err)
	}
	loss := gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(mean,
		input(g, "weigh", newDense(tensor.Shape{len(lengths), d}, weigh))))))
	if _, err := gorgonia.Grad(loss, rn); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(rn))
	building.Unlock()
	defer vm.Close()
	run := func() float64 {
		t.Helper()
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		return loss.Value().Data().(float64)
	}
	run()
	v, err := rn.Grad()
	if err != nil {
		t.Fatal(err)
	}
	got := append([]float64(nil), data[float64](v)...)
	for i, w := 0, data[float64](rows); i < len(w); i++ {
		before := w[i]
		w[i] = before + 1e-4
		up := run()
		w[i] = before - 1e-4
		down := run()
		w[i] = before
		if want := (up - down) / 2e-4; math.Abs(got[i]-want) > 1e-8 {
			t.Errorf("row %d, column %d: %v, want %v", i/d, i%d, got[i], want)
		}
	}
}
