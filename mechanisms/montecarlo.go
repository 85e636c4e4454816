package mechanisms

import (
	"math"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// MonteCarlo estimates the output distribution of a word from samples, for
// mechanisms that are not a Distributor. AbsoluteError is the half-width of a
// simultaneous 95% bound over all outputs: the smaller of two, twice the
// Dvoretzky–Kiefer–Wolfowitz bound (Massart 1990) and Hoeffding's with a union
// over the vocabulary.
func MonteCarlo(m Mechanism, word WordID, samples int, seed stream.Seed) (Distribution, error) {
	if err := checkWord(m.Vocabulary(), word); err != nil {
		return Distribution{}, err
	}
	if err := check.AtLeast("samples", samples, 1); err != nil {
		return Distribution{}, err
	}
	n := m.Vocabulary().Len()
	counts := make([]int, n)
	src, dst := make([]WordID, min(samples, batchWords)), make([]WordID, min(samples, batchWords))
	for i := range src {
		src[i] = word
	}
	rng := seed.Rand()
	for left := samples; left > 0; left -= len(dst) {
		dst, src = dst[:min(left, len(dst))], src[:min(left, len(src))]
		m.Privatize(dst, src, nil, rng)
		for _, y := range dst {
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
