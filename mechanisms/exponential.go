package mechanisms

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// expNegative is e^x for x ≤ 0, within 2⁻⁵² of the value relatively where it
// is a normal number. It is written out, every product rounded, because a row
// must not depend on the processor, and math.Exp does in its last bit.
func expNegative(x float64) float64 {
	if !(x > -708) {
		return 0
	}
	const (
		log2e = 1.44269504088896338700e+00
		ln2Hi = 6.93147180369123816490e-01 // 33 bits: k·ln2Hi is exact
		ln2Lo = 1.90821492927058770002e-10
	)
	k := math.RoundToEven(float64(x * log2e))
	r := float64(x-float64(k*ln2Hi)) - float64(k*ln2Lo)
	// Taylor's series, |r| ≤ 0.35: the rest is below 2⁻⁵⁷.
	p := 1.0 / 6227020800
	p = float64(p*r) + 1.0/479001600
	p = float64(p*r) + 1.0/39916800
	p = float64(p*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 0.5
	p = 1 + (r + float64(float64(r*r)*p))
	return p * math.Float64frombits(uint64(1023+int(k))<<52)
}

// exponential draws from the exponential law of mean 1 by −ln of a uniform
// number of 53 significant bits, however small it is: Pr[E ≥ x] is e^{−x}
// within a factor of 1 ± 2⁻⁵⁰ for every x, so nothing underflows.
func exponential(rng *rand.PCG) float64 {
	zeros := 0
	r := rng.Uint64()
	for r == 0 {
		zeros += 64
		r = rng.Uint64()
	}
	z := bits.LeadingZeros64(r)
	r <<= z
	if z > 8 {
		r |= rng.Uint64() >> (64 - z) // fresh bits in the place of the zeros
	}
	// r/2⁶⁴ is in [½, 1).
	return float64(float64(zeros+z)*math.Ln2) - math.Log(float64(r|1)*0x1p-64)
}
