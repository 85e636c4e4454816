package stats

import (
	"math"
	"slices"
	"testing"
)

func TestSoftmax(t *testing.T) {
	for _, c := range []struct{ x, want []float64 }{
		{[]float64{3}, []float64{1}},
		{[]float64{0, math.Log(3)}, []float64{0.25, 0.75}},
		{[]float64{1000, 1000, -1000}, []float64{0.5, 0.5, 0}},
		{[]float64{-1e300, 0}, []float64{0, 1}},
		{[]float64{math.Inf(-1), 5}, []float64{0, 1}},
	} {
		got := make([]float64, len(c.x))
		narrow := make([]float64, len(c.x))
		x32 := make([]float32, len(c.x))
		for i, v := range c.x {
			x32[i] = float32(v)
		}
		Softmax(got, c.x)
		Softmax(narrow, x32)
		for i, want := range c.want {
			if math.Abs(got[i]-want) > 1e-15 || math.Abs(narrow[i]-want) > 1e-7 {
				t.Errorf("softmax of %v is %v, of float32 %v, want %v", c.x, got, narrow, c.want)
			}
		}
		x := slices.Clone(c.x)
		Softmax(x, x)
		if !slices.Equal(x, got) {
			t.Errorf("softmax of %v in its own place is %v, want %v", c.x, x, got)
		}
	}
	p := []float64{1, math.NaN(), 2}
	Softmax(p, p)
	for _, v := range p {
		if !math.IsNaN(v) {
			t.Errorf("softmax with a number that is NaN is %v, want NaN", p)
		}
	}
}
