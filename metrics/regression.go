package metrics

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Term is a coefficient of a regression with its standard error, its t and the
// two-sided probability of one as large by chance.
type Term struct{ Coefficient, Error, T, P float64 }

// Regress fits y = b₀ + Σ bⱼ·xⱼ by least squares; x has a row for each y. It returns
// b₀, b₁ … and R². Source: [M24] Table 4. Fewer numbers than coefficients, or columns
// that depend on each other, are an error.
func Regress(y []float64, x [][]float64) (terms []Term, r2 float64, err error) {
	n := len(y)
	p := 1 // coefficients
	if n > 0 {
		p += len(x[0])
	}
	if n <= p {
		return nil, 0, fmt.Errorf("regression: %d numbers for %d coefficients", n, p)
	}
	design := mat.NewDense(n, p, nil)
	for i, row := range x {
		design.SetRow(i, append([]float64{1}, row...))
	}
	var qr mat.QR
	qr.Factorize(design)
	if c := qr.Cond(); c > 1e12 || math.IsNaN(c) {
		return nil, 0, fmt.Errorf("regression: what it is on is not independent")
	}
	var b, fitted mat.VecDense
	var r, inverse mat.Dense
	qr.RTo(&r)
	err = errors.Join(qr.SolveVecTo(&b, false, mat.NewVecDense(n, y)), inverse.Inverse(r.Slice(0, p, 0, p)))
	if err != nil {
		return nil, 0, fmt.Errorf("regression: %w", err)
	}
	fitted.MulVec(design, &b)
	residual := 0.0
	for i, v := range y {
		residual += math.Pow(v-fitted.AtVec(i), 2)
	}
	// The covariance of b is σ²(XᵀX)⁻¹ = σ²R⁻¹R⁻ᵀ.
	df := float64(n - p)
	for j := range p {
		term := Term{Coefficient: b.AtVec(j), Error: math.Sqrt(residual/df) * mat.Norm(inverse.RowView(j), 2)}
		term.T = term.Coefficient / term.Error
		term.P = 2 * distuv.StudentsT{Sigma: 1, Nu: df}.Survival(math.Abs(term.T))
		terms = append(terms, term)
	}
	return terms, 1 - residual/(stat.Variance(y, nil)*float64(n-1)), nil
}
