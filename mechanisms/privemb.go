package mechanisms

import (
	"math"
	"math/rand/v2"

	"mldpbench/embeddings"
	"mldpbench/internal/params"
)

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:     "privemb",
		Title:    "PrivEmb",
		Source:   "Feyisetan & Kasiviswanathan 2021, Algorithm 1 (M2); without projection their baseline M1",
		Metric:   "euclidean",
		Order:    80,
		Variants: []Variant{Proved},
		Parameters: []Parameter{
			{
				Name:    "projection",
				Default: "gaussian",
				Legal:   `"gaussian" or "none"`,
				Words:   []string{"gaussian", "none"},
				Doc:     "gaussian projects to m dimensions first (M2); none adds noise to all p (M1)",
			},
			{
				Name:    "beta",
				Default: 0.9,
				Legal:   "in (0, 1)",
				Valid:   params.Strictly(0, 1),
				Doc:     "how much the projection may stretch distances",
			},
			{
				Name:    "delta",
				Default: 1e-6,
				Legal:   "in (0, 1)",
				Valid:   params.Strictly(0, 1),
				Doc:     "probability that it stretches some more",
			},
			{Name: "m", Default: "derived", Fixed: true},
		},
		NewVector: newPrivEmb,
	})
}

// privEmb releases Φx + κ, Φ ∈ R^{m×p} i.i.d. N(0, 1/m), κ of density
// ∝ exp(−ε‖κ‖/(1+β)). With probability 1−δ over Φ no distance grows by more
// than 1+β, and then the release is ε·d-private: this is the (ε, δ) of the
// source. Without projection it is the multivariate Laplace mechanism on x.
type privEmb struct {
	settings   Settings
	guarantee  Guarantee
	space      *embeddings.Space
	projection []float64 // m × p, row-major; nil for M1
	m          int
	noise      float64 // ε of the noise: ε/(1+β), or ε for M1
}

// grid is the spacing of the released numbers: the largest power of two that is
// at most 1/1024 of the noise's scale 1/ε. Coordinates of the noise have a
// standard deviation of about √m/ε, so rounding to the grid loses nothing
// useful. Without rounding, the last bits of a float depend on the vector under
// the noise (Mironov 2012). Rounding is post-processing: it costs no ε.
func (m *privEmb) grid() float64 {
	_, e := math.Frexp(1 / (1024 * m.noise))
	return math.Ldexp(1, max(min(e-1, 96), -96))
}

// newPrivEmb draws the projection from the seed of the environment.
func newPrivEmb(env Environment, s Settings) (VectorMechanism, error) {
	beta := s.Parameters["beta"].(float64)
	delta := s.Parameters["delta"].(float64)
	p := env.Space.Dimension
	if s.Parameters["projection"] == "none" {
		g := euclideanGuarantee(env.Space, s.Epsilon, "multivariate Laplace noise on the vector")
		return &privEmb{
			settings:  s,
			guarantee: g,
			space:     env.Space,
			m:         p,
			noise:     s.Epsilon,
		}, nil
	}
	m := projectedDimension(p, beta, delta)
	g := euclideanGuarantee(env.Space, s.Epsilon,
		"with probability 1-delta over the projection it stretches no distance by more than 1+beta")
	g.Delta = delta
	e := &privEmb{
		settings:  s,
		guarantee: g,
		space:     env.Space,
		m:         m,
		noise:     s.Epsilon / (1 + beta),
	}
	rng := env.Seed.Derive("privemb", "projection").Rand()
	e.projection = make([]float64, m*p)
	for i := range e.projection {
		e.projection[i] = rng.NormFloat64() / math.Sqrt(float64(m))
	}
	return e, nil
}

// projectedDimension returns m = (√log₂p + √ln(1/δ))²/β², rounded to the
// nearest integer. This reading of the source's Ω(·) reproduces its pairs (β,
// m) = (0.93, 50), (0.66, 100), (0.468, 200) at p = 300, δ = 1e-6.
func projectedDimension(p int, beta, delta float64) int {
	root := math.Sqrt(math.Log2(float64(p))) + math.Sqrt(math.Log(1/delta))
	return max(1, int(math.Round(root*root/(beta*beta))))
}

func (m *privEmb) Settings() Settings                 { return m.settings }
func (m *privEmb) Guarantee() Guarantee               { return m.guarantee }
func (m *privEmb) Vocabulary() *embeddings.Vocabulary { return m.space.Vocabulary }
func (m *privEmb) OutputDimension() int               { return m.m }

// Release adds in float64 and rounds once, to the grid. float32 represents the
// grid exactly up to 2²⁴ steps from 0 and more coarsely beyond.
func (m *privEmb) Release(dst []float32, src []WordID, rng *rand.Rand) {
	noise := make([]float64, m.m)
	grid := m.grid()
	for i, w := range src {
		sphericalNoise(noise, m.noise, rng)
		x := m.space.Vector(w)
		out := dst[i*m.m : (i+1)*m.m]
		for r := range out {
			out[r] = float32(math.RoundToEven((m.coordinate(r, x)+noise[r])/grid) * grid)
		}
	}
}

// coordinate returns the r-th coordinate of Φx, or of x itself for M1.
func (m *privEmb) coordinate(r int, x []float32) float64 {
	if m.projection == nil {
		return float64(x[r])
	}
	row := m.projection[r*len(x):][:len(x)]
	var s0, s1 float64
	i := 0
	for ; i+2 <= len(x); i += 2 {
		s0 += float64(row[i] * float64(x[i]))
		s1 += float64(row[i+1] * float64(x[i+1]))
	}
	if i < len(x) {
		s0 += float64(row[i] * float64(x[i]))
	}
	return s0 + s1
}
