package metrics

import (
	"math"
	"testing"
)

// A regression worked by hand: y = 2x has slope 2 and no residual; with residuals
// ±1 of y = 1 + 2x + r the standard errors are σ·√diag((XᵀX)⁻¹), σ² = Σr²/(n−p).
func TestRegress(t *testing.T) {
	x, y := [][]float64{{0}, {1}, {2}, {3}}, []float64{2, 2, 4, 8} // 1 + 2x + (1, −1, −1, 1)
	terms, r2, err := Regress(y, x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "constant", terms[0].Coefficient, 1, 1e-12)
	near(t, "slope", terms[1].Coefficient, 2, 1e-12)
	// XᵀX = (4 6; 6 14), its inverse (14 −6; −6 4)/20; σ² = 4/2
	near(t, "error of the constant", terms[0].Error, math.Sqrt(2*14.0/20), 1e-12)
	near(t, "error of the slope", terms[1].Error, math.Sqrt(2*4.0/20), 1e-12)
	near(t, "t", terms[1].T, 2/math.Sqrt(0.4), 1e-12)
	// two degrees of freedom: the probability is 1 − t/√(t²+2)
	near(t, "p", terms[1].P, 1-math.Sqrt(10.0/12), 1e-9)
	near(t, "R²", r2, 1-4.0/24, 1e-12)
	for name, x := range map[string][][]float64{"as many as coefficients": x[:2], "of one value": {{1}, {1}, {1}, {1}}} {
		if _, _, err := Regress(y[:len(x)], x); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
