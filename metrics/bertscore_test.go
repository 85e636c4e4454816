package metrics

import (
	"math"
	"strings"
	"testing"
)

func TestBERTScoreByHand(t *testing.T) {
	x, y, z := []float32{2, 0, 0}, []float32{0, 3, 0}, []float32{0, 0, 1}
	diagonal := []float32{1, 1, 0} // cosine 1/√2 with x and y
	h := math.Sqrt2 / 2
	for name, c := range map[string]struct {
		original, privatised [][]float32
		p, r                 float64
	}{
		"equal":           {[][]float32{x, y}, [][]float32{x, y}, 1, 1},
		"order":           {[][]float32{x, y}, [][]float32{y, x}, 1, 1},
		"one lost":        {[][]float32{x, y}, [][]float32{x}, 1, 0.5},
		"one added":       {[][]float32{x}, [][]float32{x, z}, 0.5, 1},
		"nearly":          {[][]float32{x, y}, [][]float32{diagonal}, h, h},
		"greedy":          {[][]float32{x, diagonal}, [][]float32{diagonal, z}, 0.5, (h + 1) / 2},
		"opposite":        {[][]float32{{1}}, [][]float32{{-1}}, -1, -1},
		"nothing in both": {nil, nil, 1, 1},
		"nothing left":    {[][]float32{x}, nil, 0, 0},
		"a zero vector":   {[][]float32{x}, [][]float32{{0, 0, 0}}, 0, 0},
	} {
		p, r, f, err := bertScore(c.original, c.privatised)
		want := 0.0
		if c.p+c.r > 0 {
			want = 2 * c.p * c.r / (c.p + c.r)
		}
		if err != nil || math.Abs(p-c.p) > 1e-6 || math.Abs(r-c.r) > 1e-6 || math.Abs(f-want) > 1e-6 {
			t.Errorf("%s: %v %v %v %v, want %v %v %v", name, p, r, f, err, c.p, c.r, want)
		}
	}
}

func TestMeasureBERTScore(t *testing.T) {
	x, y := []float32{1, 0}, []float32{0, 1}
	s, err := MeasureBERTScore([][][]float32{{x}, {x}}, [][][]float32{{x}, {y}})
	// 100 and 0: mean 50, s = 70.7, t₁(0.975) = 12.706, so ± 635.3.
	if err != nil || s.F1.Estimate != 50 || math.Abs(s.F1.High-50-635.31) > 0.01 || s.Recall != s.Precision {
		t.Errorf("%+v, %v", s, err)
	}
	for _, c := range []struct {
		a, b [][][]float32
		want string
	}{
		{[][][]float32{{x}}, nil, "0 documents for 1"},
		{[][][]float32{{x}}, [][][]float32{{{1}}}, "document 0: vectors of 2 and 1 dimensions"},
	} {
		if _, err := MeasureBERTScore(c.a, c.b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}
