package mechanisms

import "math"

func init() {
	Register(Definition{
		Name:     "santext",
		Title:    "SanText",
		Source:   "Yue et al. 2021, Algorithm 1",
		Metric:   "euclidean",
		Order:    50,
		Variants: []Variant{Proved, AsRun},
		PerWord:  true,
		New:      newSanText,
	})
}

// newSanText builds the exponential mechanism over all of W with the distance
// as cost: Pr[y] ∝ exp(−(ε/2)·d(w,y)). The weights and, by the triangle
// inequality, the normaliser each change by at most e^{(ε/2)·d(w,w')}.
func newSanText(env Environment, s Settings) (*Mechanism, error) {
	if s.Variant == AsRun {
		return newAsRunSanText(env, s)
	}
	g := euclideanGuarantee(env.Space, s.Epsilon, "exponential mechanism with the distance as cost")
	return ByScores(s, g, sanTextScores(DistanceCosts(env.Space, nil), s.Epsilon)), nil
}

// sanTextScores are −(ε/2)·d.
func sanTextScores(c *Costs, epsilon float64) Scores {
	return Decay{
		Costs: c,
		Rate:  epsilon / 2,
		Most:  math.Inf(1),
	}.Scores()
}
