package metrics

import (
	"math"
	"slices"
	"testing"
)

// Randomised response over two words, n positions of which all differ: the loss
// is ±ε per position, so the distribution is binomial and every number is known.
func TestDocumentLossOfRandomisedResponse(t *testing.T) {
	const n, epsilon = 12, 1.5
	right := math.Exp(epsilon) / (1 + math.Exp(epsilon))
	a := []float64{math.Log(right), math.Log(1 - right)}
	b := []float64{a[1], a[0]}
	d, err := NewDocumentLoss(slices.Repeat([][]float64{a}, n), slices.Repeat([][]float64{b}, n))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(d.Worst-n*epsilon) > 1e-9 || d.Slack > 0.05 {
		t.Errorf("worst %v, slack %v", d.Worst, d.Slack)
	}
	delta := func(e float64) float64 {
		sum := 0.0
		for k := 0; k <= n; k++ { // k positions kept
			lg, _ := math.Lgamma(n + 1)
			lk, _ := math.Lgamma(float64(k) + 1)
			lr, _ := math.Lgamma(float64(n-k) + 1)
			p := math.Exp(lg - lk - lr + float64(k)*a[0] + float64(n-k)*a[1])
			if l := epsilon * float64(2*k-n); l > e {
				sum += p * (1 - math.Exp(e-l))
			}
		}
		return sum
	}
	for _, want := range []float64{0.3, 0.1, 1e-3, 1e-5} {
		e := d.Epsilon(want)
		// Never too small: δ(ε) is at most what was asked; and hardly too large.
		if delta(e) > want*(1+1e-6) || e > d.Slack && delta(e-d.Slack) < want*(1-1e-6) {
			t.Errorf("δ = %g: ε = %v has δ = %g, ε − slack %g", want, e, delta(e), delta(e-d.Slack))
		}
	}
}

func TestDocumentLossLimits(t *testing.T) {
	never := math.Inf(-1)
	same := []float64{math.Log(0.5), math.Log(0.5)}
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"equal documents":         {same, same, 0},
		"a text that b has never": {same, []float64{0, never}, math.Inf(1)},
		"rarely":                  {[]float64{math.Log1p(-1e-7), math.Log(1e-7)}, []float64{0, never}, 0},
	} {
		d, err := NewDocumentLoss([][]float64{same, c.a, same}, [][]float64{same, c.b, same})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Epsilon(1e-5); got != c.want && math.Abs(got-c.want) > d.Slack {
			t.Errorf("%s: ε = %v, want %v", name, got, c.want)
		}
	}
}
