package models

import (
	"math"

	"mldpbench/stream"
)

// glorot fills w (in × out) with the uniform distribution of Glorot & Bengio
// 2010, eq. 16.
func glorot(w []float32, in, out int, seed stream.Seed) {
	rng := seed.Rand()
	limit := math.Sqrt(6 / float64(in+out))
	for i := range w {
		w[i] = float32(limit * (2*rng.Float64() - 1))
	}
}

// orthogonal fills w (rows × columns, rows <= columns) with orthonormal rows
// of uniform distribution (Saxe et al. 2014): Gram–Schmidt on Gaussian rows,
// run twice over each row, which keeps rounding errors from adding up.
func orthogonal(w []float32, rows, columns int, seed stream.Seed) {
	rng := seed.Rand()
	basis := make([][]float64, rows)
	for i := range basis {
		v := make([]float64, columns)
		for j := range v {
			v[j] = rng.NormFloat64()
		}
		for range 2 {
			for _, u := range basis[:i] {
				p := product(u, v)
				for j := range v {
					v[j] -= float64(p * u[j])
				}
			}
		}
		length := math.Sqrt(product(v, v))
		for j := range v {
			v[j] /= length
			w[i*columns+j] = float32(v[j])
		}
		basis[i] = v
	}
}

// product is the inner product.
func product(a, b []float64) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x * b[i])
	}
	return sum
}
