package stats

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Test is the outcome of a two-sided test of equal means.
type Test struct {
	P         float64
	Low, High float64 // 95% interval of the difference
}

// NewTest is the test of a difference of a known standard error. Without spread,
// equal constants do not differ, and unequal ones differ with certainty as far as
// t can show.
func NewTest(difference, standardError, df float64) Test {
	if standardError == 0 {
		t := Test{
			P:    1,
			Low:  difference,
			High: difference,
		}
		if difference != 0 {
			t.P = 0
		}
		return t
	}
	var dist interface {
		CDF(float64) float64
		Quantile(float64) float64
	} = distuv.UnitNormal
	if df < 1e6 { // beyond, the same to all digits that matter
		dist = distuv.StudentsT{Sigma: 1, Nu: df}
	}
	t := difference / standardError
	half := dist.Quantile(0.975) * standardError
	return Test{
		P:    2 * dist.CDF(-math.Abs(t)),
		Low:  difference - half,
		High: difference + half,
	}
}

// McNemar is the exact test of two shares of right answers on the same n items, of
// which the first alone is right on first and the second alone on second (McNemar
// 1947, by the binomial distribution). The interval of the difference of shares,
// first minus second, is that of Agresti and Min (2005): half an item is added to
// each of the four cells, so it has a width where no item differs. It is near 95%,
// not always above: 92.6% of 12 items, on 30% of which either alone is right.
func McNemar(first, second, n int) Test {
	t := Test{P: 1}
	if m := first + second; m > 0 {
		t.P = min(1, 2*distuv.Binomial{N: float64(m), P: 0.5}.CDF(float64(min(first, second))))
	}
	all := float64(n + 2)
	gain := float64(first - second)
	half := distuv.UnitNormal.Quantile(0.975) * math.Sqrt(float64(first+second+1)-gain*gain/all) / all
	t.Low = max(-1, gain/all-half)
	t.High = min(1, gain/all+half)
	return t
}

// Holm adjusts p-values for their number (Holm 1979): comparing the result with
// a level keeps the probability of any false rejection below that level,
// whatever the dependence. NaN marks a test that was not made; it stays NaN and
// is not counted.
func Holm(p []float64) []float64 {
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := slices.Clone(p)
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = running
	}
	return adjusted
}
