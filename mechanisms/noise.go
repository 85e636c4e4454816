package mechanisms

import (
	"math"
	"math/rand/v2"
)

// sphericalNoise writes to z noise of density ∝ exp(−ε‖z‖) in len(z)
// dimensions: a direction uniform on the unit sphere (a normalised Gaussian)
// times a length from Gamma(shape len(z), scale 1/ε). E‖z‖ = len(z)/ε.
// (Wu et al. 2017, §2.3; Feyisetan et al. 2020, §2.6.) The same draws give
// the same bits on every processor.
func sphericalNoise(z []float64, epsilon float64, rng *rand.Rand) {
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	norm := min(gamma(float64(len(z)), rng)/epsilon, longestNoise)
	var s [2]float64 // independent sums run in parallel
	for i, v := range z {
		s[i&1] += float64(v * v)
	}
	length := math.Sqrt(s[0] + s[1])
	if length == 0 {
		z[0] = 1
		length = 1
	}
	scale := norm / length
	for i, v := range z {
		z[i] = float64(v * scale)
	}
}

// longestNoise keeps noise finite in float32 at absurdly small ε, where the
// outcome depends only on its direction; see projector.pullBack.
const longestNoise = 1e30

// gamma draws from Gamma(shape, 1), shape >= 1, by rejection from the cube of
// a shifted normal (Marsaglia and Tsang 2000): exact, about 1.05 tries. The
// products are converted explicitly so that no compiler fuses them with sums.
func gamma(shape float64, rng *rand.Rand) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		u := 1 - rng.Float64() // in (0, 1]
		if math.Log(u) < float64(0.5*float64(x*x))+d-float64(d*v)+float64(d*math.Log(v)) {
			return d * v
		}
	}
}
