package metrics

import (
	"math"
	"testing"
)

// Published inputs and output of [M24]: CMP, IMDb, d=100, ε=1 of Tables 3, 6
// and 9 are checked in results; here the formula against hand-worked values.
func TestPUC(t *testing.T) {
	c := Composite{Accuracy: 40, BaselineAccuracy: 80, Nw: 10, Sw: 60, PP: 70, CS: 50, Low: 30}
	// utility 50; privacy (90+60+70+50+70)/5 = 68
	near(t, "PUC(.75)", c.PUC(0.75), 54.5, 1e-12)
	near(t, "PUC(1)", c.PUC(1), 50, 1e-12)
	near(t, "PUC(0)", c.PUC(0), 68, 1e-12)
	c.CS = math.NaN()
	if !math.IsNaN(c.PUC(0.5)) {
		t.Error("a missing part must make the composite missing")
	}
}
