package mechanisms

func init() {
	Register(Definition{
		Name:     "cmp",
		Title:    "CMP",
		Source:   "Feyisetan et al. 2020 (WSDM), Algorithm 1",
		Metric:   "euclidean",
		Order:    10,
		Variants: []Variant{Proved, AsRun},
		Drawn:    true,
		New:      newCMP,
	})
}

// newCMP builds the multivariate Laplace mechanism, also called Madlib: the
// word nearest to φ(w) + z, z of density ∝ exp(−ε‖z‖), over all of W.
func newCMP(env Environment, s Settings) (*Mechanism, error) {
	if s.Variant == AsRun {
		return newAsRunCMP(env, s)
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, "the noise is ε·d-private and the nearest word is post-processing")
	return ByNoise(s, g, Noise{Space: env.Space}), nil
}
