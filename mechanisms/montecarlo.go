package mechanisms

import (
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// MonteCarlo estimates the output distribution of a word from samples, for
// mechanisms that are not a Distributor, or at an ε other than the mechanism's;
// epsilon 0 is the mechanism's own. AbsoluteError is the half-width of a
// simultaneous 95% bound over all outputs: the smaller of two, twice the
// Dvoretzky–Kiefer–Wolfowitz bound (Massart 1990) and Hoeffding's with a union
// over the vocabulary.
func MonteCarlo(m Mechanism, word WordID, epsilon float64, samples int, seed stream.Seed) (Distribution, error) {
	if err := checkWord(m.Vocabulary(), word); err != nil {
		return Distribution{}, err
	}
	if err := check.AtLeast("samples", samples, 1); err != nil {
		return Distribution{}, err
	}
	n := m.Vocabulary().Len()
	counts := make([]int, n)
	src := slices.Repeat([]WordID{word}, min(samples, batchWords))
	dst, epsilons := make([]WordID, len(src)), slices.Repeat([]float64{epsilon}, len(src))
	if epsilon == 0 {
		epsilons = nil
	}
	rng := seed.Rand()
	for left := samples; left > 0; left -= len(src) {
		n := min(left, len(src))
		m.Privatize(dst[:n], src[:n], epsilons[:min(n, len(epsilons))], rng)
		for _, y := range dst[:n] {
			counts[y]++
		}
	}
	d := Distribution{Probabilities: make([]float64, n), Samples: samples}
	for y, c := range counts {
		d.Probabilities[y] = float64(c) / float64(samples)
	}
	const miss = 0.05
	d.AbsoluteError = min(
		2*math.Sqrt(math.Log(2/miss)/(2*float64(samples))),
		math.Sqrt(math.Log(2*float64(n)/miss)/(2*float64(samples))),
	)
	return d, nil
}
