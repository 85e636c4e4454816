package models

import (
	"testing"

	"mldpbench/stream"
)

func TestLinearHead(t *testing.T) {
	rng := stream.FromUint64(1).Derive("probe").Rand()
	train, validation, test := clouds(rng, 300, 3, 5, 4), clouds(rng, 60, 3, 5, 4), clouds(rng, 300, 3, 5, 4)
	probe, err := FitHead(t.Context(), train, validation, 3, nil, stream.FromUint64(1))
	if err != nil {
		t.Fatal(err)
	}
	got, err := probe.Predict(t.Context(), test.Vectors)
	if err != nil {
		t.Fatal(err)
	}
	if a := accuracy(got, test.Labels); a < 0.9 {
		t.Errorf("accuracy %.3f on clouds four standard deviations apart", a)
	}
	if _, err := FitHead(t.Context(), Examples{Sequences: [][]int32{{1}}}, validation, 3, nil,
		stream.FromUint64(1)); err == nil {
		t.Error("sequences must be an error")
	}
}
