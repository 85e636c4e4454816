package stats

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Regression is an ordinary least squares fit: estimates and standard errors of
// the coefficients, the intercept first.
type Regression struct {
	Estimates, Errors []float64
	R2                float64
	N                 int // rows
}

// OLS regresses y on the columns of x (len(y) rows, more than columns) with an
// intercept. It is an error where columns depend on each other.
func OLS(x [][]float64, y []float64) (Regression, error) {
	n, k := len(y), len(x[0])+1
	design := mat.NewDense(n, k, nil)
	for i, row := range x {
		design.SetRow(i, append([]float64{1}, row...))
	}
	var qr mat.QR
	qr.Factorize(design)
	var beta, residuals mat.VecDense
	if err := qr.SolveVecTo(&beta, false, mat.NewVecDense(n, y)); err != nil {
		return Regression{}, err
	}
	residuals.MulVec(design, &beta)
	residuals.SubVec(mat.NewVecDense(n, y), &residuals)
	rss := mat.Dot(&residuals, &residuals)
	// Var β = σ²(XᵀX)⁻¹ = σ² R⁻¹R⁻ᵀ: its diagonal is the squared row norms of R⁻¹.
	var r, inverse mat.Dense
	qr.RTo(&r)
	if err := inverse.Inverse(r.Slice(0, k, 0, k)); err != nil {
		return Regression{}, err
	}
	out := Regression{R2: 1 - rss/(stat.Variance(y, nil)*float64(n-1)), N: n}
	for i := range k {
		row := inverse.RowView(i)
		out.Estimates = append(out.Estimates, beta.AtVec(i))
		out.Errors = append(out.Errors, math.Sqrt(rss/float64(n-k)*mat.Dot(row, row)))
	}
	return out, nil
}
