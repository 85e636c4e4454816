package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Test is the outcome of a two-sided test of equal means.
type Test struct {
	Difference float64 // mean of the first minus mean of the second
	T          float64
	DF         float64 // degrees of freedom
	P          float64
	Low, High  float64 // 95% interval of the difference
}

// Sample is the mean of a condition and its variance, over repetitions or, for
// a single one, from the size of its test set (infinite DF).
type Sample struct {
	Mean     float64
	Variance float64 // of the mean
	DF       float64
}

// Blocked compares two treatments over the same conditions (a[i] and b[i] are
// of condition i): the mean over conditions of the difference, with the
// variance of the conditions' means and Satterthwaite's degrees of freedom. The
// result is about these conditions only; for one condition it is Welch's test.
func Blocked(a, b []Sample) (Test, error) {
	if len(a) == 0 || len(a) != len(b) {
		return Test{}, fmt.Errorf("blocked test: %d conditions against %d: must be as many, at least 1", len(a), len(b))
	}
	difference, variance, spread := 0.0, 0.0, 0.0
	for i := range a {
		difference += a[i].Mean - b[i].Mean
		for _, s := range []Sample{a[i], b[i]} {
			variance += s.Variance
			spread += s.Variance * s.Variance / s.DF
		}
	}
	if math.IsNaN(difference + variance) {
		return Test{}, fmt.Errorf("blocked test: a condition has no mean or no variance")
	}
	n := float64(len(a))
	df := math.Inf(1)
	if spread > 0 {
		df = variance * variance / spread
	}
	return studentTest(difference/n, math.Sqrt(variance)/n, df), nil
}

// studentTest handles samples without spread: equal constants do not differ,
// unequal ones differ with certainty as far as t can show.
func studentTest(difference, standardError, df float64) Test {
	if standardError == 0 {
		t := Test{Difference: difference, DF: math.NaN(), P: 1, Low: difference, High: difference}
		if difference != 0 {
			t.T, t.P = math.Copysign(math.Inf(1), difference), 0
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
		Difference: difference, T: t, DF: df,
		P:   2 * dist.CDF(-math.Abs(t)),
		Low: difference - half, High: difference + half,
	}
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
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	adjusted := slices.Clone(p)
	running := 0.0
	for rank, i := range order {
		running = max(running, min(1, float64(len(order)-rank)*p[i]))
		adjusted[i] = running
	}
	return adjusted
}
