package metrics

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/internal/stats"
	"mldpbench/stream"
)

func testRand(label string) *rand.Rand { return stream.FromUint64(1).Derive(label).Rand() }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}

// Published inputs and output of [M24]: CMP, IMDb, d=100, ε=1 of Tables 3, 6
// and 9 are checked in results; here the formula against hand-worked values.
func TestPUC(t *testing.T) {
	utility, privacy := []Part{{50, 1}}, []Part{{90, 1}, {60, 1}, {70, 1}, {50, 1}, {70, 1}} // mean 68
	near(t, "PUC(.75)", PUC(0.75, utility, privacy), 54.5, 1e-12)
	near(t, "PUC(1)", PUC(1, utility, privacy), 50, 1e-12)
	near(t, "PUC(0)", PUC(0, utility, privacy), 68, 1e-12)
	near(t, "PUC, weighted", PUC(0, utility, []Part{{90, 3}, {10, 1}}), 70, 1e-12)
	// half of the utility is left, and a fifth of what an adversary finds
	near(t, "relative gain", 2*PUC(0.5, utility, []Part{{80, 1}})/100-1, 0.5-0.2, 1e-12)
	privacy[3].Value = math.NaN()
	if !math.IsNaN(PUC(0.5, utility, privacy)) {
		t.Error("a missing part must make the composite missing")
	}
}

func TestPercent(t *testing.T) {
	near(t, "Percent", Percent(3, 4), 75, 0)
	if !math.IsNaN(Percent(0, 0)) {
		t.Error("a share of nothing must be missing")
	}
}

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
