package mechanisms

import "math"

func init() {
	Register(Definition{
		Name:       "santext",
		Title:      "SanText",
		Source:     "Yue et al. 2021, Algorithm 1",
		Metric:     "euclidean",
		Order:      50,
		Variants:   []Variant{Proved, AsRun},
		Parameters: []Parameter{metricParameter},
		PerWord:    true,
		New:        newSanText,
	})
}

// newSanText builds the exponential mechanism over all of W with the distance
// as cost: Pr[y] ∝ exp(−(ε/2)·d(w,y)). The weights and, by the triangle
// inequality, the normaliser each change by at most e^{(ε/2)·d(w,w')}.
func newSanText(env Environment, s Settings) (Mechanism, error) {
	if s.Variant == AsRun {
		return newAsRunSanText(env, s)
	}
	metric, err := metricOf(env.Space, s.Parameters)
	if err != nil {
		return nil, err
	}
	g := metric.guarantee(s.Epsilon, "exponential mechanism with the distance as cost")
	law := func(epsilon float64) distanceLaw { return distanceLaw{epsilon / 2, math.Inf(1)} }
	return metric.selector(s, g, law), nil
}
