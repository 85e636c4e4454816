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
		t := Test{P: 1, Low: difference, High: difference}
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
	return Test{P: 2 * dist.CDF(-math.Abs(t)), Low: difference - half, High: difference + half}
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
