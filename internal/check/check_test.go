package check

import (
	"math"
	"testing"
)

func TestChecks(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"positive ok", Positive("epsilon", 1), ""},
		{"negative", Positive("epsilon", -1), "epsilon = -1: must be > 0 and finite"},
		{"zero", Positive("epsilon", 0), "epsilon = 0: must be > 0 and finite"},
		{"nan", Positive("epsilon", nan), "epsilon = NaN: must be > 0 and finite"},
		{"inf", Positive("epsilon", inf), "epsilon = +Inf: must be > 0 and finite"},
		{"nonnegative ok", NonNegative("t", 0), ""},
		{"nonnegative nan", NonNegative("t", nan), "t = NaN: must be >= 0 and finite"},
		{"within ok", Within("t", 1, 0, 1), ""},
		{"within", Within("t", 1.5, 0, 1), "t = 1.5: must be in [0, 1]"},
		{"within nan", Within("t", nan, 0, 1), "t = NaN: must be in [0, 1]"},
		{"inside", Inside("beta", 1, 0, 1), "beta = 1: must be in (0, 1)"},
		{"at least", AtLeast("k", 0, 1), "k = 0: must be >= 1"},
		{"one of ok", OneOf("policy", "keep", "keep", "drop"), ""},
		{"one of, misspelt", OneOf("policy", "kep", "keep", "drop"),
			`policy = "kep": must be one of ["keep" "drop"]; did you mean "keep"?`},
		{"one of", OneOf("policy", "x", "keep", "drop"), `policy = "x": must be one of ["keep" "drop"]`},
	} {
		got := ""
		if c.err != nil {
			got = c.err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
