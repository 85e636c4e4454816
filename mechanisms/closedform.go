package mechanisms

import (
	"math"
	"math/rand/v2"
)

// closedForm is a mechanism whose probabilities are given by a formula and
// which is cheap to draw from without a table.
type closedForm struct {
	built
	draw func(word WordID, epsilon float64, rng *rand.Rand) WordID
	// logs writes ln Pr[y] of all outputs y of a word to dst.
	logs func(dst []float64, word WordID, epsilon float64)
}

func (m *closedForm) Privatize(dst, src []WordID, epsilons []float64, rng *rand.Rand) {
	for i, w := range src {
		epsilon := m.settings.Epsilon
		if epsilons != nil {
			epsilon = epsilons[i]
		}
		dst[i] = m.draw(w, epsilon, rng)
	}
}

// Distribution evaluates the formula in float64.
func (m *closedForm) Distribution(word WordID) (Distribution, error) {
	p, _, err := m.LogBounds(word)
	for y, x := range p {
		p[y] = math.Exp(x)
	}
	return Distribution{Probabilities: p}, err
}

// LogBounds evaluates the formula in logarithms, which do not underflow.
func (m *closedForm) LogBounds(word WordID) (low, high []float64, err error) {
	if err := checkWord(m.vocabulary, word); err != nil {
		return nil, nil, err
	}
	logs := make([]float64, m.vocabulary.Len())
	m.logs(logs, word, m.settings.Epsilon)
	return logs, logs, nil
}
