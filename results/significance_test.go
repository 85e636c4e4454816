package results

import (
	"math"
	"testing"
)

// Extra hours of sleep under two drugs (Cushny & Peebles 1905), the data of
// Student 1908; the results are those of every statistics package.
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func TestWelchOnStudentsData(t *testing.T) {
	got, err := Welch(sleep1, sleep2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "t", got.T, -1.8608, 5e-5)
	near(t, "df", got.DF, 17.776, 5e-4)
	near(t, "p", got.P, 0.07939, 5e-6)
	near(t, "low", got.Low, -3.3654832, 5e-7)
	near(t, "high", got.High, 0.2054832, 5e-7)
}

func TestPairedTOnStudentsData(t *testing.T) {
	got, err := PairedT(sleep1, sleep2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "t", got.T, -4.0621, 5e-5)
	near(t, "df", got.DF, 9, 0)
	near(t, "p", got.P, 0.002833, 5e-7)
}

func TestTestsWithoutSpread(t *testing.T) {
	same, _ := Welch([]float64{2, 2}, []float64{2, 2})
	if same.P != 1 || same.Difference != 0 {
		t.Errorf("equal constants: %+v", same)
	}
	other, _ := Welch([]float64{2, 2}, []float64{1, 1})
	if other.P != 0 || !math.IsInf(other.T, 1) {
		t.Errorf("unequal constants: %+v", other)
	}
	if _, err := Welch([]float64{1}, []float64{1, 2}); err == nil {
		t.Error("one value must be an error")
	}
	if _, err := PairedT([]float64{1, 2}, []float64{1}); err == nil {
		t.Error("lengths that differ must be an error")
	}
	if _, err := PairedT([]float64{1}, []float64{1}); err == nil {
		t.Error("one pair must be an error")
	}
}

func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, math.NaN(), 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, math.NaN(), 0.06, 0.02} {
		if math.IsNaN(want) != math.IsNaN(got[i]) || math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("Holm[%d] = %v, want %v", i, got[i], want)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("adjusted p beyond 1: %v", got)
	}
}
