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
	Runs    int              // draws per word to learn from, and as many to measure on; 0 when exact
}

// fullLevel is the confidence of the intervals.
const fullLevel = 0.95

// drawnTogether is the number of words that share a stream. It is constant, so
// the result does not depend on the number of threads.
const drawnTogether = 64

// InferFull measures FullError for the first words of the mechanism's
// vocabulary, one per count: how often each occurs. It costs one row of
// probabilities per word where there is a closed form, 2 × samples draws per
// word elsewhere.
func InferFull(ctx context.Context, m mechanisms.Mechanism, counts []int, samples int, seed stream.Seed,
	threads int) (FullError, error) {
	var out FullError
	prior, err := metrics.ShadowPrior(counts)
	if err != nil {
		return out, err
	}
	priors := [][]float64{metrics.UniformPrior(len(counts)), prior}
	outputs := m.Vocabulary().Len()
	if d, ok := m.(mechanisms.Distributor); ok {
		// Drawing costs less than integrating.
		if p, err := d.Distribution(0); err == nil && p.Samples == 0 && p.AbsoluteError == 0 {
			full, err := metrics.FullVocabulary(ctx, metrics.Channel{Inputs: len(counts), Outputs: outputs,
				Rows: func(x, n int) ([][]float64, error) {
					return mechanisms.Rows(d, mechanisms.WordID(x), n)
				}}, priors, max(1, threads))
			if err != nil {
				return out, err
			}
			exact := func(i int) metrics.Interval {
				e := full.Inference[i].MAP
				return metrics.Interval{Estimate: e, Low: e, High: e}
			}
			return FullError{Uniform: exact(0), Corpus: exact(1)}, nil
		}
	}
	learn, err := drawAll(ctx, m, len(counts), samples, seed.Derive("learn"), threads)
	if err != nil {
		return out, err
	}
	fresh, err := drawAll(ctx, m, len(counts), samples, seed.Derive("measure"), threads)
	if err != nil {
		return out, err
	}
	sampled, err := metrics.SampledVocabulary(ctx, learn, fresh, outputs, priors, fullLevel, max(1, threads))
	if err != nil {
		return out, err
	}
	return FullError{sampled.Inference[0].MAP, sampled.Inference[1].MAP, samples}, nil
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
