package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

// InferenceOptions are the options of the adversary's expected error E_M, over all
// words. Where a mechanism has a closed form, n words cost n rows of n
// probabilities (27,000 words of 100 dimensions: 20 to 30 seconds on one core),
// elsewhere draws.
type InferenceOptions struct {
	// of each word, for the adversary to learn from where there is no closed form, and as many to measure on
	Samples int `yaml:"samples,omitempty" json:"samples" limits:"0,1000000"`
	// if greater, those to learn from are doubled up to as many, until two doublings in a row change E_M by less
	// than 0.005 each; the rest is in the interval. 10 draws are 0.01 to 0.05 too kind to mechanisms of noise.
	Most int `yaml:"most,omitempty" json:"most,omitempty" limits:"0,100000"`
	// also how far the best guess is from the word, as a share of the mean distance of two words: a near synonym is
	// nearly found
	Distance bool `yaml:"distance,omitempty" json:"distance,omitempty"`
}

func init() {
	Register(Measurement{
		Name: "inference-full", Version: 1,
		Columns: append(columns("e_m_full_uniform", "e_m_full_corpus"), results.Column{Name: "e_m_full_distance",
			Title: "distance of guesses, full vocabulary", Direction: results.Up, Digits: 3, Threshold: 0.03,
			Table: "adversary"}),
		Metric: study.Metric{Key: "inference_error", New: func() any { return &InferenceOptions{} },
			Check: func(options any, _ *study.Design, at study.At) error {
				o := options.(*InferenceOptions)
				switch {
				case o.Samples == 0:
					return at(errors.New("metrics.inference_error: samples must be given, for mechanisms without a closed form"),
						"")
				case o.Most > 0 && o.Most < o.Samples:
					return at(fmt.Errorf("metrics.inference_error: most = %d: must be >= samples = %d", o.Most, o.Samples), "most")
				}
				return nil
			}},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureInference,
	})
}

// measureInference is the error of an adversary whose candidates are all words,
// and how far his guesses are from the word.
func measureInference(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := *q.Options.(*InferenceOptions)
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if !m.TakesWords() {
		return []results.Row{unmeasured(row, "e_m_full_uniform", notOfWords)}, nil
	}
	counts := make([]int, m.Vocabulary().Len())
	for word, count := range r.Corpus.Counts {
		if id := m.Vocabulary().ID(word); id != embeddings.Unknown {
			counts[id] = count
		}
	}
	counts = counts[:r.Space.Len()]
	i, err := Infer(ctx, m, counts, o, r.RepetitionSeed().Derive("inference", "full"), q.Threads)
	if err != nil {
		return nil, err
	}
	note := ""
	if uniform := i.Errors[0]; i.Learned > 0 && o.Most > o.Samples {
		note = fmt.Sprintf("learned from %d draws a word; more would lower it by about %.4f", i.Learned, uniform.Remaining)
		if !uniform.Settled {
			note += ", as far as is known: it has not settled"
		}
	}
	var rows []results.Row
	add := func(quantity string, v stats.Interval) {
		n := results.Number(v.Estimate).Within(v.Low, v.High)
		n.Whole, n.Note = i.Learned, note
		rows = append(rows, row.Of(quantity, n))
	}
	add("e_m_full_uniform", i.Errors[0].MAP)
	add("e_m_full_corpus", i.Errors[1].MAP)
	if !o.Distance {
		return rows, nil
	}
	// Of the best guess under the uniform prior: one who wants to come near finds as
	// much or more.
	space, decoder := r.batch.env.Space, i.Errors[0].Decoder
	distance := func(a, b int) float64 { return space.Distance(embeddings.WordID(a), embeddings.WordID(b)) }
	var d stats.Interval
	if i.Learned == 0 {
		d, err = metrics.GuessDistance(ctx, *attack.ExactChannel(m, len(counts)), decoder, distance, max(1, q.Threads))
	} else {
		d, err = metrics.SampledGuessDistance(decoder, i.Fresh, distance)
	}
	add("e_m_full_distance", d)
	return rows, err
}

// inferenceLevel is the confidence of the intervals, settled the largest change of
// E_M by twice the draws that ends their growth.
const inferenceLevel, settled = 0.95, 0.005

// Infer measures E_M over the first words of the mechanism's vocabulary, one per
// count: how often each occurs. The errors are those under the uniform prior and
// under that of the counts.
func Infer(ctx context.Context, m *mechanisms.Mechanism, counts []int, o InferenceOptions, seed stream.Seed,
	threads int) (out metrics.Inference, err error) {
	corpus, err := metrics.EmpiricalPrior(counts)
	if err != nil {
		return out, err
	}
	priors, words := [][]float64{corpus}, len(counts)
	if channel := attack.ExactChannel(m, words); channel != nil {
		return metrics.Infer(ctx, *channel, priors, max(1, threads))
	}
	fresh, err := drawAll(ctx, m, words, o.Samples, seed.Derive("measure"), threads)
	if err != nil {
		return out, err
	}
	return metrics.InferSampled(ctx, func(n, step int, learn bool) (metrics.Draws, error) {
		from := seed.Derive("learn")
		switch {
		case !learn:
			return fresh, nil
		case step > 0:
			from = from.At(uint64(step))
		}
		return drawAll(ctx, m, words, n, from, threads)
	}, m.Vocabulary().Len(), priors, metrics.Growth{First: o.Samples, Most: cmp.Or(o.Most, o.Samples),
		Tolerance: settled, Level: inferenceLevel}, max(1, threads))
}

// drawnTogether is the number of words that share a stream. It is constant, so
// the result does not depend on the number of threads.
const drawnTogether = 64

// drawAll draws so many outputs of every word.
func drawAll(ctx context.Context, m *mechanisms.Mechanism, words, samples int, seed stream.Seed,
	threads int) (metrics.Draws, error) {
	if err := check.Within("draws of all words", float64(words*samples), 1, math.MaxInt32); err != nil {
		return metrics.Draws{}, err
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
				ids = append(ids, slices.Repeat([]mechanisms.WordID{mechanisms.WordID(x)}, samples)...)
			}
			if err := m.Privatize(running, ids, ids, seed.At(uint64(first/drawnTogether)).Rand()); err != nil {
				return err
			}
			for i, y := range ids {
				d.Outputs[first*samples+i] = int32(y)
			}
			return nil
		})
	}
	return d, g.Wait()
}
