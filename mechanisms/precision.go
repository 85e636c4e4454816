package mechanisms

import (
	"math"

	"mldpbench/embeddings"
)

// noisePrecision bounds the effect of floating point on a word chosen by
// spherical noise on its vector; see Numerical. choice returns what the choice
// among the nearest words adds to Rate, given a reach and a least distance of a
// word (see choiceOfVickrey); nil means the nearest word itself. The bound
// holds for leastDimension dimensions and more; for fewer the result is zero,
// which means not known.
//
// Let p be the dimension, a the vector of the input, Z ideal noise, P the law
// of the word chosen for a+Z, P' the one computed. Random bits are assumed to
// be uniform and independent. P' is compared with P in three steps.
//
//  1. Random numbers. rng.NormFloat64 is a ziggurat of 2⁷ layers with 2³² points
//     each, in tables of float32. A number it returns, spread evenly over the
//     half steps beside it, has a density within e^{±κ} of the normal one for
//     |x| ≤ 9, κ = 2⁻²⁰, and was moved by at most h = 2⁻²⁷
//     (TestNormalNumbersAreNearlyNormal measures both; what it cannot see,
//     roundings between the points it looks at, is below 12·2⁻²⁴ by the
//     rounding of each operation). |x| > 9 has probability 2.3·10⁻¹⁹. A gamma
//     draw accepts with a probability e^t, t ≥ −11 for |x| ≤ 9 and p ≥ 16, which
//     53 bits keep to a factor of 1 ± 10⁻¹¹. The p normal numbers and the one
//     of the length, with the normaliser of its rejection, give e^{±(p+3)κ}.
//  2. Displacement. Where ‖G‖ ≥ √p/m for the vector G of normal numbers and the
//     length is at most R/ε (Chernoff: both fail with probability 10⁻²⁰), moving
//     all by h moves the noise by 2hm·R/ε + √d·(1+9c)²·h/ε, c and d of gamma.
//     Rounding the sum to float32 moves it by 2⁻²⁴·reach, reach = R/ε + 2·longest
//     vector; that the nearest word is found with float64 distances is worth
//     (p+8)·2⁻³⁶·reach at the gaps g that Numerical admits. Moved is the sum ρ.
//  3. Cells. Let y have its nearest other vector at distance g, c its vector.
//     ‖x−c‖² − ‖x−v‖² is affine in x with slope 2‖c−v‖ and −‖c−v‖² at c. So if y
//     is nearest to a point within ρ of x, it is nearest to c + (x−c)/(1+s),
//     s = 2ρ/g; and if it is nearest to x, it is nearest to all points within ρ
//     of c + (1−s)(x−c). Noise of density e^{−ε‖x−a‖} changes under such a
//     scaling by at most (1+s)^p·e^{εsD} and (1−s)^{−p}·e^{εsD}, D = ‖c−a‖.
//
// Summing over the words of a set gives both inequalities of Numerical, with
// Rate = p + εD. The proof does not need the cell of y to be convex: it also
// holds for a choice whose probability falls by at most a factor when a point
// moves towards c.
func noisePrecision(s *embeddings.Space, epsilon float64, choice func(reach, least float64) float64) Numerical {
	p, longest := float64(s.Dimension), longestVector(s)
	if s.Dimension < leastDimension {
		return Numerical{}
	}
	length := noiseLength(p) / epsilon
	reach := length + 2*longest
	if !(reach < noisyRadius(longest)) {
		return Numerical{} // vectors are pulled back, which can change the word
	}
	d := p - 1.0/3
	c := 1 / math.Sqrt(9*d)
	m := math.Sqrt(math.E * math.Pow(rare, -2/p))
	moved := (0x1p-24+(p+8)*0x1p-36)*reach + (2*normalStep*m+(p+16)*0x1p-52)*length +
		math.Sqrt(d)*(1+9*c)*(1+9*c)*normalStep/epsilon
	n := Numerical{
		Eta:   (p + 3) * normalRatio,
		Delta: (p + 3) * 2.3e-19,
		Moved: 1.01 * moved,
		Rate:  p + 2*epsilon*longest,
	}
	n.Lost = n.Delta
	if choice != nil {
		// n·(ε·least)^p/p! bounds the chance of a word nearer than that.
		factorial, _ := math.Lgamma(p + 1)
		least := math.Exp((math.Log(rare/float64(s.Len()))+factorial)/p) / epsilon
		n.Rate += choice(reach, least)
		n.Eta += normalRatio // 53 bits of the choice
	}
	return n
}

const (
	leastDimension = 16
	normalStep     = 0x1p-27 // h
	normalRatio    = 0x1p-20 // κ
	rare           = 1e-20
)

// noiseLength is the R that a Gamma(p, 1) exceeds with probability rare at most:
// Pr[> y·p] ≤ (y·e^{1−y})^p.
func noiseLength(p float64) float64 {
	low, high := 1.0, 200.0
	for range 60 {
		if y := (low + high) / 2; p*(1+math.Log(y)-y) > math.Log(rare) {
			low = y
		} else {
			high = y
		}
	}
	return high * p
}

// choiceOfVickrey returns what Vickrey's choice adds to Rate where t ≤ 1/2.
// When a point moves towards y, y never drops in rank; if it rises to rank 1
// its probability grows, because (1−t) ≥ t. At rank 1, the ratio a1/a2 grows by
// at most 2s. At rank 2, a1 may fall by s·reach, which has little effect where
// no word is nearer than least.
func choiceOfVickrey(reach, least float64) float64 { return 2 + 3*reach/least }
