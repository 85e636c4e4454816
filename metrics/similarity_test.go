package metrics

import (
	"math"
	"testing"

	"mldpbench/internal/stats"
)

func TestCosine(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{
		{[]float32{1, 0}, []float32{0, 2}, 0},
		{[]float32{1, 2}, []float32{2, 4}, 1},
		{[]float32{1, 2}, []float32{-1, -2}, -1},
		{[]float32{1, 0}, []float32{1, 1}, math.Sqrt2 / 2},
		{[]float32{0, 0}, []float32{0, 0}, 1},
		{[]float32{0, 0}, []float32{1, 0}, 0},
	} {
		near(t, "Cosine", Cosine(c.a, c.b), c.want, 1e-12)
	}
}

func TestCS(t *testing.T) {
	// Similarities 100, 0, 50·√2…: mean and t interval by hand for {100, 0}.
	got, err := CS([][]float32{{1, 0}, {1, 0}}, [][]float32{{1, 0}, {0, 1}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "CS", got.Estimate, 50, 1e-12)
	// t(0.975, 1 df) = 12.7062; sd/√n = 50.
	near(t, "CS high", got.High, 50+12.706204736*50, 1e-5)
	if _, err := CS([][]float32{{1}}, nil); err == nil {
		t.Error("counts that differ must be an error")
	}
	if _, err := CS([][]float32{{1}}, [][]float32{{1, 2}}); err == nil {
		t.Error("dimensions that differ must be an error")
	}
}

func TestMeanInterval(t *testing.T) {
	got := stats.MeanInterval([]float64{1, 2, 3, 4, 5}, 0.95)
	near(t, "mean", got.Estimate, 3, 1e-12)
	near(t, "high", got.High, 3+2.776445105*math.Sqrt(2.5/5), 1e-8) // t(0.975, 4 df)
	if one := stats.MeanInterval([]float64{7}, 0.95); one.Estimate != 7 || !math.IsInf(one.High, 1) {
		t.Errorf("one value: %+v, want 7 with no bounds", one)
	}
	if none := stats.MeanInterval(nil, 0.95); !math.IsNaN(none.Estimate) {
		t.Errorf("no value: %+v, want missing", none)
	}
}
