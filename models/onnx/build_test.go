package onnx

import (
	"math"
	"testing"

	"mldpbench/models/onnx/onnxproto"
	"mldpbench/models/onnx/onnxtest"
)

type (
	builder = onnxtest.Builder
	attr    = *onnxproto.Attribute
)

var (
	with   = onnxtest.Attribute
	tensor = onnxtest.Tensor
)

// evaluate parses a file and runs its only output "y".
func evaluate(t *testing.T, b *builder, opset int64, inputs map[string]*Tensor) *Tensor {
	t.Helper()
	m, err := parse(b.File(opset), nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := m.Run(inputs, Request{Output: "y"})
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func floatTensor(shape []int, numbers ...float64) *Tensor {
	t := &Tensor{Type: Float, Shape: shape}
	for _, x := range numbers {
		t.F = append(t.F, float32(x))
	}
	return t
}

func near(t *testing.T, what string, got *Tensor, shape []int, want ...float64) {
	t.Helper()
	same := len(got.Shape) == len(shape) && got.Size() == len(want)
	for i := range shape {
		same = same && got.Shape[i] == shape[i]
	}
	if !same {
		t.Errorf("%s: shape %v, want %v", what, got.Shape, shape)
		return
	}
	for i, w := range want {
		x := 0.0
		if got.Type == Float {
			x = float64(got.F[i])
		} else {
			x = float64(got.I[i])
		}
		if !(math.Abs(x-w) <= 1e-5*(1+math.Abs(w))) && x != w && !(w != w && x != x) {
			t.Errorf("%s: number %d is %v, want %v (%v)", what, i, x, w, got)
			return
		}
	}
}
