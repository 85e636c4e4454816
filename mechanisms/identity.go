package mechanisms

import "math/rand/v2"

// init registers the mechanism.
func init() {
	Register(Definition{
		Name:      "identity",
		Title:     "Identity",
		Source:    "baseline: the text as it is",
		Metric:    "discrete",
		Order:     900,
		Variants:  []Variant{Printed},
		PerWord:   true,
		Constant:  true,
		Unchanged: true,
		New:       newIdentity,
	})
}

// newIdentity leaves every word unchanged at every ε: full utility, no privacy.
func newIdentity(env Environment, s Settings) (*Mechanism, error) {
	return ByFormula(s, Guarantee{Reason: "every word is published"}, Formula{
		Vocabulary: env.Space.Vocabulary,
		Draw:       func(word WordID, _ *rand.Rand) WordID { return word },
		LogRow:     certain,
	}), nil
}
