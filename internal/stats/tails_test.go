package stats

import (
	"math"
	"testing"
)

// Far tails against mpmath 1.4.1 at 40 digits (mp.dps = 40). A table of p-values has such numbers where many items or
// repetitions agree, and a distribution function taken from 1 would give 0.
func TestFarTails(t *testing.T) {
	for _, c := range []struct {
		test   string
		p      float64
		mpmath float64
	}{
		// betainc(df/2, 1/2, 0, df/(df+t^2), regularized=True)
		{"t = 50, df = 10", NewTest(50, 1, 10).P, 2.47431032930268e-13},
		{"t = 40, df = 4", NewTest(-40, 1, 4).P, 2.33401632260127e-6},
		{"t = 30, df = 100", NewTest(30, 1, 100).P, 8.38033255868829e-52},
		{"t = 9, df = 1000", NewTest(9, 1, 1000).P, 1.11290771718715e-18},
		{"t = 6, df = 1.5", NewTest(6, 1, 1.5).P, 0.0502024567763248},
		{"t = 300, df = 2", NewTest(300, 1, 2).P, 1.11109259293552e-5},
		// erfc(z/sqrt(2))
		{"z = 9", NewTest(9, 1, math.Inf(1)).P, 2.25717681190768e-19},
		{"z = 20", NewTest(-20, 1, math.Inf(1)).P, 5.50724823721247e-89},
		// 2*sum(binomial(n, k) for k in range(a+1))/2**n
		{"0 against 100", McNemar(0, 100, 200).P, 1.57772181044202e-30},
		{"197 against 3", McNemar(197, 3, 500).P, 1.65967941920862e-54},
		{"0 against 1000", McNemar(0, 1000, 1000).P, 1.86652723700644e-301},
		// the x, by bisection, with betainc(k, n-k+1, 0, x, regularized=True) = tail
		{"1 of 10^6, tail 1e-9", betaQuantile(1, 1e6, 1e-9), 1.0000000005e-15},
		{"5 of 10^5, tail 1e-12", betaQuantile(5, 1e5-4, 1e-12), 1.03895521048815e-7},
		{"20 of 40, tail 1e-15", betaQuantile(20, 21, 1e-15), 0.0518813585510457},
	} {
		if !(math.Abs(c.p/c.mpmath-1) <= 1e-9) {
			t.Errorf("%s: %v, want %v of mpmath", c.test, c.p, c.mpmath)
		}
	}
}
