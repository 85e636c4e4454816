package mechanisms

import (
	"context"
	"math"
	"slices"

	"mldpbench/internal/check"
	"mldpbench/stream"
)

// Estimate is a row that was drawn.
type Estimate struct {
	Probabilities []float64
	Samples       int
	// Error is the half-width of a simultaneous 95% bound over all outputs: the
	// smaller of two, twice the Dvoretzky–Kiefer–Wolfowitz bound (Massart 1990)
	// and Hoeffding's with a union over the vocabulary.
	Error float64
}

// Outputs returns the row of a word: exact where it is known, else from samples.
func Outputs(ctx context.Context, m *Mechanism, word WordID, samples int, seed stream.Seed) (e Estimate, err error) {
	if m.Closed() {
		e.Probabilities, err = m.Row(word)
		return e, err
	}
	if err := checkWord(m.vocabulary, word); err != nil {
		return Estimate{}, err
	}
	if err := check.AtLeast("samples", samples, 1); err != nil {
		return Estimate{}, err
	}
	n := m.vocabulary.Len()
	e = Estimate{Probabilities: make([]float64, n), Samples: samples}
	src := slices.Repeat([]WordID{word}, min(samples, batchWords))
	dst := make([]WordID, len(src))
	rng := seed.Rand()
	for left := samples; left > 0; left -= len(src) {
		n := min(left, len(src))
		if err := m.Privatize(ctx, dst[:n], src[:n], rng); err != nil {
			return e, err
		}
		for _, y := range dst[:n] {
			e.Probabilities[y]++
		}
	}
	for y := range e.Probabilities {
		e.Probabilities[y] /= float64(samples)
	}
	const miss = 0.05
	e.Error = min(
		2*math.Sqrt(math.Log(2/miss)/(2*float64(samples))),
		math.Sqrt(math.Log(2*float64(n)/miss)/(2*float64(samples))),
	)
	return e, nil
}
