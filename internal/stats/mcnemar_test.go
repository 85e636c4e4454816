package stats

import (
	"math"
	"testing"
)

// 8 against 2 of ten: 2·(1 + 10 + 45)/1024.
func TestMcNemar(t *testing.T) {
	got, err := McNemar(8, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p", got.P, 112./1024, 1e-12)
	near(t, "difference", got.Difference, 0.06, 1e-12)
	near(t, "high", got.High, 0.06+1.959964*math.Sqrt((0.1-0.0036)/100), 1e-6)
	if same, _ := McNemar(0, 0, 5); same.P != 1 || same.Low != 0 {
		t.Errorf("no disagreement: %+v", same)
	}
	for _, bad := range [][3]int{{-1, 0, 5}, {3, 3, 5}, {0, 0, 0}} {
		if _, err := McNemar(bad[0], bad[1], bad[2]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestWelchSampled(t *testing.T) {
	plain, _ := Welch(sleep1, sleep2)
	same, err := WelchSampled(sleep1, sleep2, 0, 0)
	if err != nil || same != plain {
		t.Errorf("%+v, %v; want %+v", same, err, plain)
	}
	wide, _ := WelchSampled(sleep1, sleep2, 100, 100)
	if !(wide.P > plain.P) || !(wide.DF > plain.DF) || !(wide.High-wide.Low > 50) {
		t.Errorf("%+v", wide)
	}
	flat, _ := WelchSampled([]float64{3, 3}, []float64{1, 1}, 2, 2) // a normal test of 2 ± 2
	near(t, "p", flat.P, math.Erfc(1/math.Sqrt2), 1e-9)
}
