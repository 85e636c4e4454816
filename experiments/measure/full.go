package measure

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/stream"
)

// FullError is E_M MAP, 0/1 loss, of an adversary whose candidates are all
// input words. It is either exact, with intervals of width 0, or that of an
// adversary who learned the channel from draws, with 95% intervals.
type FullError struct {
	Uniform metrics.Interval // adversary without knowledge of word frequencies
	Corpus  metrics.Interval // adversary that knows how often each occurs
	Runs    int              // draws per word to learn from; 0 when exact
	Note    string           // what more draws would do

	channel *metrics.Channel // nil where draws were needed
	decoder metrics.Decoder  // under the uniform prior
	fresh   metrics.Draws    // that the decoder was measured on
}

// fullLevel is the confidence of the intervals, settled the largest change of E_M
// by twice the draws that ends their growth.
const fullLevel, settled = 0.95, 0.005

// drawnTogether is the number of words that share a stream. It is constant, so
// the result does not depend on the number of threads.
const drawnTogether = 64

// FullOptions say from how many draws E_M is learned where there is no closed
// form.
type FullOptions struct {
	Samples int `json:"samples"`        // of each word to learn from, and as many to measure on
	Most    int `json:"most,omitempty"` // if greater, those to learn from are doubled up to as many
}

// InferFull measures FullError for the first words of the mechanism's
// vocabulary, one per count: how often each occurs. It costs one row of
// probabilities per word where there is a closed form. Elsewhere it costs 2 ×
// Samples draws per word, or, with Most, draws until two doublings in a row
// change E_M by less than 0.005 each; what more of them would do is in the
// interval.
func InferFull(ctx context.Context, m mechanisms.Mechanism, counts []int, o FullOptions, seed stream.Seed,
	threads int) (FullError, error) {
	var out FullError
	prior, err := metrics.EmpiricalPrior(counts, 1)
	if err != nil {
		return out, err
	}
	priors := [][]float64{metrics.UniformPrior(len(counts)), prior}
	outputs := m.Vocabulary().Len()
	if d, ok := m.(mechanisms.Distributor); ok {
		// Drawing costs less than integrating.
		if p, err := d.Distribution(0); err == nil && p.Samples == 0 && p.AbsoluteError == 0 {
			channel := metrics.Channel{Inputs: len(counts), Outputs: outputs, Rows: func(x, n int) ([][]float64, error) {
				return mechanisms.Rows(d, mechanisms.WordID(x), n)
			}}
			full, err := metrics.FullVocabulary(ctx, channel, priors, max(1, threads))
			if err != nil {
				return out, err
			}
			return FullError{Uniform: metrics.Exactly(full.MAP[0]), Corpus: metrics.Exactly(full.MAP[1]),
				channel: &channel, decoder: full.Decoders[0]}, nil
		}
	}
	fresh, err := drawAll(ctx, m, len(counts), o.Samples, seed.Derive("measure"), threads)
	if err != nil {
		return out, err
	}
	draw := func(n, step int) (metrics.Draws, error) {
		from := seed.Derive("learn")
		if step > 0 {
			from = from.At(uint64(step))
		}
		return drawAll(ctx, m, len(counts), n, from, threads)
	}
	if o.Most <= o.Samples {
		learn, err := draw(o.Samples, 0)
		if err != nil {
			return out, err
		}
		sampled, err := metrics.SampledVocabulary(ctx, learn, fresh, outputs, priors, fullLevel, max(1, threads))
		if err != nil {
			return out, err
		}
		return FullError{Uniform: sampled.Inference[0].MAP, Corpus: sampled.Inference[1].MAP, Runs: o.Samples,
			decoder: sampled.Decoders[0], fresh: fresh}, nil
	}
	grown, err := metrics.GrowInference(ctx, func(n, step int, learn bool) (metrics.Draws, error) {
		if learn {
			return draw(n, step)
		}
		return fresh, nil
	}, outputs, priors, o.Samples, o.Most, settled, fullLevel, max(1, threads))
	if err != nil {
		return out, err
	}
	uniform := grown.Inference[0]
	note := fmt.Sprintf("learned from %d draws a word; more would lower it by about %.4f", uniform.Learned,
		uniform.Remaining)
	if !uniform.Settled {
		note += ", as far as is known: it has not settled"
	}
	return FullError{Uniform: uniform.MAP, Corpus: grown.Inference[1].MAP, Runs: uniform.Learned, Note: note,
		decoder: grown.Decoders[0], fresh: fresh}, nil
}

// GuessDistance is the mean distance of a word from the guess of the adversary
// under the uniform prior, as a share of the mean distance of two words. He
// guesses the most probable word: one who wants to come near finds as much or
// more.
func (f FullError) GuessDistance(ctx context.Context, distance func(a, b int) float64,
	threads int) (metrics.Interval, error) {
	if f.channel != nil {
		return metrics.GuessDistance(ctx, *f.channel, f.decoder, distance, max(1, threads))
	}
	return metrics.SampledGuessDistance(f.decoder, f.fresh, distance)
}

// drawAll draws so many outputs of every word.
func drawAll(ctx context.Context, m mechanisms.Mechanism, words, samples int, seed stream.Seed,
	threads int) (metrics.Draws, error) {
	if words > math.MaxInt32/max(1, samples) {
		return metrics.Draws{}, fmt.Errorf("%d draws of %d words: too many", samples, words)
	}
	d := metrics.Draws{PerInput: samples, Outputs: make([]int32, words*samples)}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(1, threads))
	for first := 0; first < words; first += drawnTogether {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			last := min(first+drawnTogether, words)
			ids := make([]mechanisms.WordID, 0, (last-first)*samples)
			for x := first; x < last; x++ {
				for range samples {
					ids = append(ids, mechanisms.WordID(x))
				}
			}
			m.Privatize(ids, ids, nil, seed.At(uint64(first/drawnTogether)).Rand())
			for i, y := range ids {
				d.Outputs[first*samples+i] = int32(y)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return d, err
	}
	return d, mechanisms.Err(m)
}
