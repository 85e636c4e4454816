package mechanisms

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"mldpbench/embeddings"
)

// mahalanobisShape is R and a root of it. Any A with AAᵀ = R turns spherical
// noise into the same law, because spherical noise is unchanged by rotation;
// the Cholesky factor can also whiten distances.
type mahalanobisShape struct {
	dimension int
	lower     []float64 // packed rows of L, LLᵀ = R, rounded to float32
	rows      []float32 // the same, dimension × dimension
	smallest  float64   // smallest eigenvalue of R
}

// mahalanobisKey says what the shape of a space depends on.
type mahalanobisKey struct {
	lambda   float64
	released bool // the scale of the covariance, see scaledCovariance
}

// mahalanobisShapeOf computes the shape once per space and key.
func mahalanobisShapeOf(s *embeddings.Space, key mahalanobisKey) (*mahalanobisShape, error) {
	return embeddings.Derive(s, key, func() (*mahalanobisShape, error) {
		return newMahalanobisShape(s, key)
	})
}

// newMahalanobisShape fails where R is singular.
func newMahalanobisShape(s *embeddings.Space, key mahalanobisKey) (*mahalanobisShape, error) {
	r := scaledCovariance(s, key)
	for i := range s.Dimension {
		for j := range i + 1 {
			x := key.lambda * r.At(i, j)
			if i == j {
				x += 1 - key.lambda
			}
			r.SetSym(i, j, x)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(r, false) {
		return nil, fmt.Errorf("the eigenvalues of the covariance did not converge")
	}
	smallest := eigen.Values(nil)[0]
	var chol mat.Cholesky
	if smallest < 1e-12 || !chol.Factorize(r) {
		return nil, fmt.Errorf("lambda = %v: the covariance of the space is singular; lambda must be below 1",
			key.lambda)
	}
	var l mat.TriDense
	chol.LTo(&l)
	rows := make([]float32, s.Dimension*s.Dimension)
	shape := &mahalanobisShape{
		dimension: s.Dimension,
		smallest:  smallest,
		rows:      rows,
	}
	for i := range s.Dimension {
		for j := range i + 1 {
			x := float32(l.At(i, j))
			shape.rows[i*s.Dimension+j] = x
			shape.lower = append(shape.lower, float64(x))
		}
	}
	return shape, nil
}

// scaledCovariance is the sample covariance of the vectors scaled to trace p,
// which divides it by the mean variance of a column; the released one divides it by the
// variance of all numbers together, which is larger wherever columns have
// different means. It is the identity where all vectors are equal and there is
// nothing to scale.
func scaledCovariance(s *embeddings.Space, key mahalanobisKey) *mat.SymDense {
	p := s.Dimension
	n := s.Len()
	mean := meanVector(s)
	sum := blas64.Symmetric{
		N:      p,
		Stride: p,
		Data:   make([]float64, p*p),
		Uplo:   blas.Upper,
	}
	const block = 512
	rows := make([]float64, block*p)
	for start := 0; start < n; start += block {
		count := min(block, n-start)
		for i, x := range s.Vectors[start*p : (start+count)*p] {
			rows[i] = float64(x) - mean[i%p]
		}
		blas64.Syrk(blas.Trans, 1, blas64.General{
			Rows:   count,
			Cols:   p,
			Stride: p,
			Data:   rows,
		}, 1, sum)
	}
	cov := mat.NewSymDense(p, sum.Data)
	trace := mat.Trace(cov)
	if trace == 0 {
		identity := mat.NewSymDense(p, nil)
		for i := range p {
			identity.SetSym(i, i, 1)
		}
		return identity
	}
	scale := float64(p) / trace
	if key.released {
		total := trace + float64(n*p)*stat.PopVariance(mean, nil)
		scale = float64(n) / float64(n-1) * float64(p) / total
	}
	cov.ScaleSym(scale, cov)
	return cov
}

// meanVector is the mean of the vectors of a space.
func meanVector(s *embeddings.Space) []float64 {
	mean := make([]float64, s.Dimension)
	for i, x := range s.Vectors {
		mean[i%s.Dimension] += float64(x)
	}
	for i := range mean {
		mean[i] /= float64(s.Len())
	}
	return mean
}

// distance is ‖L⁻¹(a−b)‖, equal to ‖R^{−1/2}(a−b)‖.
func (m *mahalanobisShape) distance(a, b []float32) float64 {
	z := make([]float64, m.dimension)
	for i := range z {
		z[i] = float64(a[i]) - float64(b[i])
	}
	m.whiten(z)
	return floats.Norm(z, 2)
}

// whiten solves L·y = z in place, by forward substitution: ‖y‖ = ‖R^{−1/2}z‖.
func (m *mahalanobisShape) whiten(z []float64) {
	for i := range z {
		row := m.lower[i*(i+1)/2:][:i+1]
		for k := range i {
			z[i] -= row[k] * z[k]
		}
		z[i] /= row[i]
	}
}
