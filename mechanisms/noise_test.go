package mechanisms

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"mldpbench/stream"
)

// normalQuantile is the two-sided z of falseAlarm.
var normalQuantile = distuv.UnitNormal.Quantile(1 - falseAlarm/2)

// The length is Gamma(p, 1/ε): mean p/ε, variance p/ε². The direction is
// uniform: every coordinate has mean 0 and mean square 1/p, and coordinates
// are uncorrelated.
func TestSphericalNoiseMoments(t *testing.T) {
	const n = 20000
	for _, p := range []int{1, 2, 3, 50} {
		const epsilon = 2.5
		rng := stream.FromUint64(1).At(uint64(p)).Rand()
		z := make([]float64, p)
		lengths := make([]float64, n)
		var first, firstSquare, cross float64
		for i := range n {
			sphericalNoise(z, epsilon, rng)
			var squares float64
			for _, x := range z {
				squares += x * x
			}
			lengths[i] = math.Sqrt(squares)
			v0, vl := z[0]/lengths[i], z[p-1]/lengths[i]
			first += v0
			firstSquare += v0 * v0
			cross += v0 * vl
		}
		mean, variance := moments(lengths)
		dim := float64(p)
		require := func(what string, got, want, sd float64) {
			t.Helper()
			if math.Abs(got-want) > normalQuantile*sd {
				t.Errorf("p = %d: %s = %.5f, want %.5f ± %.5f", p, what, got, want, normalQuantile*sd)
			}
		}
		require("mean length", mean, dim/epsilon, math.Sqrt(dim/n)/epsilon)
		// Var of the sample variance: (μ₄ − σ⁴)/n with μ₄ = (3p²+6p)/ε⁴.
		require("length variance", variance, dim/(epsilon*epsilon), math.Sqrt((2*dim*dim+6*dim)/n)/(epsilon*epsilon))
		require("mean of a coordinate", first/n, 0, math.Sqrt(1/dim/n))
		if p > 1 {
			// E v⁴ = 3/(p(p+2)), E v₀²v₁² = 1/(p(p+2)) on the sphere.
			require("mean square of a coordinate", firstSquare/n, 1/dim, math.Sqrt((3/(dim*(dim+2))-1/(dim*dim))/n))
			require("product of coordinates", cross/n, 0, math.Sqrt(1/(dim*(dim+2))/n))
		}
	}
}

func moments(x []float64) (mean, variance float64) {
	for _, v := range x {
		mean += v
	}
	mean /= float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return mean, variance / float64(len(x)-1)
}

// The whole law of the length, by Kolmogorov's distance with the DKW bound:
// Pr[D > x] ≤ 2·exp(−2nx²).
func TestGammaLaw(t *testing.T) {
	const n = 50000
	for _, shape := range []float64{1, 2, 7.5, 300} {
		rng := stream.FromUint64(2).Rand()
		law := distuv.Gamma{Alpha: shape, Beta: 1}
		x := make([]float64, n)
		for i := range x {
			x[i] = law.CDF(gamma(shape, rng))
		}
		limit := math.Sqrt(math.Log(2/falseAlarm) / (2 * n))
		if d := kolmogorov(x); d > limit {
			t.Errorf("shape %v: Kolmogorov distance %.4f > %.4f", shape, d, limit)
		}
	}
}
