package channel

import (
	"cmp"
	"context"
	"slices"

	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/stream"
)

// level is the confidence of the intervals, settled the largest change of
// E_M by twice the draws that ends their growth.
const level, settled = 0.95, 0.005

// Options say how E_M of a mechanism is estimated.
type Options struct {
	// Samples are the draws of each word to learn from where there is no closed form, and as
	// many to measure on. Where Most is greater, those to learn from are doubled up to as many.
	Samples, Most int
	Seed          stream.Seed // of the draws
	Threads       int
}

// Estimate is E_M over the first words of a mechanism's vocabulary, one per
// probability of the prior: under the uniform prior and under that one. It is exact where
// there is a closed form.
func Estimate(ctx context.Context, m *mechanisms.Mechanism, prior []float64, o Options) (Inference, error) {
	priors := [][]float64{prior}
	if exact := Of(m, len(prior)); exact != nil {
		return exactly(ctx, *exact, priors, max(1, o.Threads))
	}
	words := m.Vocabulary().IDs()[:len(prior)]
	fresh, err := draw(ctx, m, words, o.Samples, o.Seed.Derive("measure"), o.Threads)
	if err != nil {
		return Inference{}, err
	}
	learn := func(n, step int) (Draws, error) {
		seed := o.Seed.Derive("learn")
		if step > 0 {
			seed = seed.At(uint64(step))
		}
		return draw(ctx, m, words, n, seed, o.Threads)
	}
	growth := Growth{
		First:     o.Samples,
		Most:      cmp.Or(o.Most, o.Samples),
		Tolerance: settled,
		Level:     level,
	}
	return Sampled(Sample{
		Learn:   learn,
		Fresh:   fresh,
		Outputs: m.Vocabulary().Len(),
	}, priors, growth)
}

// OfText is E_M over the words of a text, which has each so often, as the adversary
// knows. Where there is no closed form he learns from so many draws of each, or four times
// as many where no choice follows the noise, and is measured on the words of sample, which
// are drawn from the text; what more would lower is in the interval.
func OfText(ctx context.Context, m *mechanisms.Mechanism, counts []int, sample []mechanisms.WordID,
	o Options) (v stats.Interval, exact bool, err error) {
	words, prior := wordsOf(counts)
	if known := ofWords(m, words); known != nil {
		i, err := exactly(ctx, *known, [][]float64{prior}, o.Threads)
		if err != nil {
			return v, true, err
		}
		return i.Errors[1].MAP, true, nil
	}
	outputs := slices.Clone(sample)
	if err := m.Privatize(ctx, outputs, sample, o.Seed.Derive("text").Rand()); err != nil {
		return v, false, err
	}
	samples := o.Samples
	if m.Choices() == nil {
		samples *= 4
	}
	draws, err := draw(ctx, m, words, samples, o.Seed.Derive("learn"), o.Threads)
	if err != nil {
		return v, false, err
	}
	t := text{
		words:   sample,
		outputs: outputs,
		number:  numbering(m, words),
	}
	return t.inferred(draws, prior).MAP, false, nil
}

// text is a sample of the words of a text and what was made of them.
type text struct {
	words, outputs []mechanisms.WordID
	number         []int32 // of each word of the vocabulary
}

// inferred is the error on the text of who learned from draws. What more of them would lower
// is judged by who learned from half.
func (t text) inferred(draws Draws, prior []float64) Error {
	priors := [][]float64{prior}
	half, _ := learn(draws.First((draws.PerInput+1)/2), priors, len(t.number))
	whole, lower := learn(draws, priors, len(t.number))
	e := Error{
		MAP:     t.measured(whole[0]),
		Decoder: whole[0],
		Lower:   lower[0],
	}
	e.Moved = t.measured(half[0]).Estimate - e.MAP.Estimate
	e.Remaining = remaining(e.Moved)
	e.MAP.Low = max(0, e.MAP.Low-e.Remaining)
	return e.bounded(prior, len(t.number), t.measured)
}

// measured is the error of a decoder on the text. The interval is exact (Clopper-Pearson).
func (t text) measured(d Decoder) stats.Interval {
	wrong := 0
	for i, y := range t.outputs {
		if d.Guess[t.number[y]] != t.number[t.words[i]] {
			wrong++
		}
	}
	return stats.ClopperPearson(wrong, len(t.words), levelOfEach(level))
}
