package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Coefficient of a regression.
type Coefficient struct {
	Name                     string
	Estimate, StdError, T, P float64
}

// Regression is an ordinary least squares fit with intercept.
type Regression struct {
	Coefficients []Coefficient // the intercept ("const") first
	R2           float64
	N, DF        int // rows, residual degrees of freedom
}

// OLS regresses y on the columns of x (len(y) rows) with an intercept.
func OLS(names []string, x [][]float64, y []float64) (Regression, error) {
	n, k := len(y), len(names)+1
	if len(x) != n {
		return Regression{}, fmt.Errorf("regression: %d rows of predictors for %d values", len(x), n)
	}
	if n <= k {
		return Regression{}, fmt.Errorf("regression: %d rows for %d coefficients: must be more", n, k)
	}
	design := mat.NewDense(n, k, nil)
	for i, row := range x {
		if len(row) != len(names) {
			return Regression{}, fmt.Errorf("regression: row %d has %d predictors, not %d", i, len(row), len(names))
		}
		design.Set(i, 0, 1)
		for j, v := range row {
			design.Set(i, j+1, v)
		}
	}
	var qr mat.QR
	qr.Factorize(design)
	// A collinear design has a condition number beyond float64's precision.
	if c := qr.Cond(); !(c < 1e12) {
		return Regression{}, fmt.Errorf("regression: predictors are collinear (condition number %.3g)", c)
	}
	target := mat.NewVecDense(n, slices.Clone(y))
	var beta mat.VecDense
	if err := qr.SolveVecTo(&beta, false, target); err != nil {
		return Regression{}, fmt.Errorf("regression: %w", err)
	}
	var fitted, residuals mat.VecDense
	fitted.MulVec(design, &beta)
	residuals.SubVec(target, &fitted)
	rss := mat.Dot(&residuals, &residuals)
	centre := stat.Mean(y, nil)
	tss := 0.0
	for _, v := range y {
		tss += (v - centre) * (v - centre)
	}
	// Var β = σ²(XᵀX)⁻¹ = σ² R⁻¹R⁻ᵀ: its diagonal is the squared row norms of R⁻¹.
	var full mat.Dense
	qr.RTo(&full)
	r := mat.NewTriDense(k, mat.Upper, nil)
	for i := range k {
		for j := i; j < k; j++ {
			r.SetTri(i, j, full.At(i, j))
		}
	}
	var inverse mat.TriDense
	if err := inverse.InverseTri(r); err != nil {
		return Regression{}, fmt.Errorf("regression: %w", err)
	}
	df := n - k
	sigma2 := rss / float64(df)
	result := Regression{R2: 1 - rss/tss, N: n, DF: df}
	for i := range k {
		square := 0.0
		for j := i; j < k; j++ {
			square += inverse.At(i, j) * inverse.At(i, j)
		}
		name := "const"
		if i > 0 {
			name = names[i-1]
		}
		test := NewTest(beta.AtVec(i), math.Sqrt(sigma2*square), float64(df))
		result.Coefficients = append(result.Coefficients,
			Coefficient{name, beta.AtVec(i), math.Sqrt(sigma2 * square), test.T, test.P})
	}
	return result, nil
}
