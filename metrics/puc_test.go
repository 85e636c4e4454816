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

func TestGeneralPUCContainsPUC(t *testing.T) {
	rng := testRand("puc")
	for range 100 {
		c := Composite{100 * rng.Float64(), 1 + 99*rng.Float64(), 100 * rng.Float64(), 100 * rng.Float64(), 100 * rng.Float64(), 100 * rng.Float64(), 100 * rng.Float64()}
		alpha := rng.Float64()
		up := func(name string, v float64) Term { return Term{Name: name, Value: v, Worst: 0, Best: 100, Weight: 2} }
		down := func(name string, v float64) Term { return Term{Name: name, Value: v, Worst: 100, Best: 0, Weight: 2} }
		got, err := GeneralPUC(alpha, 100,
			[]Term{{Name: "accuracy", Value: c.Accuracy, Best: c.BaselineAccuracy, Weight: 1, NotClipped: true}},
			[]Term{down("n_w", c.Nw), up("s_w", c.Sw), up("pp", c.PP), up("cs", c.CS), down("low", c.Low)})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "GeneralPUC", got, c.PUC(alpha), 1e-9)
	}
}

func TestGeneralPUCErrors(t *testing.T) {
	ok := []Term{{Name: "x", Value: 1, Best: 2, Weight: 1}}
	for name, f := range map[string]func() (float64, error){
		"alpha": func() (float64, error) { return GeneralPUC(1.1, 1, ok, ok) },
		"scale": func() (float64, error) { return GeneralPUC(.5, 0, ok, ok) },
		"range": func() (float64, error) {
			return GeneralPUC(.5, 1, []Term{{Name: "x", Value: 3, Best: 2, Weight: 1}}, ok)
		},
		"no terms": func() (float64, error) { return GeneralPUC(.5, 1, nil, ok) },
		"no width": func() (float64, error) { return GeneralPUC(.5, 1, ok, []Term{{Name: "x", Weight: 1}}) },
		"weight":   func() (float64, error) { return GeneralPUC(.5, 1, ok, []Term{{Name: "x", Best: 1, Weight: -1}}) },
		"NaN value": func() (float64, error) {
			return GeneralPUC(.5, 1, ok, []Term{{Name: "x", Value: math.NaN(), Best: 1, Weight: 1}})
		},
	} {
		if v, err := f(); err == nil {
			t.Errorf("%s: got %v, want an error", name, v)
		}
	}
}
