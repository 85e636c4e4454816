package stats

import (
	"math"
	"testing"
)

// By hand: row means 2 and 4, column means 1.5 and 4.5, residuals ±0.5.
func TestCrossedByHand(t *testing.T) {
	x := [][]float64{{1, 3}, {2, 6}}
	for name, c := range map[string]struct {
		analyse         func([][]float64) (Layout, error)
		items, repeated float64
	}{
		"crossed": {Crossed, 2.25, 1.5},
		"nested":  {Nested, 1.25, -0.5},
	} {
		l, err := c.analyse(x)
		if err != nil || l.Mean != 3 {
			t.Errorf("%s: mean %g, %v; want 3", name, l.Mean, err)
		}
		if math.Abs(l.OfItems-c.items) > 1e-12 || math.Abs(l.OfRepetitions-c.repeated) > 1e-12 {
			t.Errorf("%s: variances %g of items and %g of repetitions, want %g and %g", name, l.OfItems,
				l.OfRepetitions, c.items, c.repeated)
		}
		for _, broken := range [][][]float64{nil, {{1}}, {{1, 2}, {1, 2, 3}}} {
			if _, err := c.analyse(broken); err == nil {
				t.Errorf("%s: %v: no error", name, broken)
			}
		}
	}
	if l, err := Crossed(x[:1]); err != nil || !math.IsNaN(l.OfRepetitions) || l.OfItems != 1 {
		t.Errorf("one repetition: %+v, %v", l, err)
	}
}

// 1.96 + 0.84 standard errors, as in any table of sample sizes.
func TestDetectable(t *testing.T) {
	if d := Detectable(2, math.Inf(1), 0.05); math.Abs(d-5.603) > 0.001 {
		t.Errorf("%g, want 5.603", d)
	}
	if Detectable(2, 3, 0.05) <= 5.603 {
		t.Error("few degrees of freedom must need a larger difference")
	}
}
