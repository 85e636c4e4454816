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
		Name: "inference-full", Version: 1, VersionOf: inferenceVersion,
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

// inferenceVersion is 1 where there is a closed form. Where there is none, no estimate is
// above the error of guessing the output itself since 2; where a drawn choice follows the
// noise, 2 stood for its probabilities in place of its outcome.
func inferenceVersion(s *Spec, _ *Query) int {
	d := s.Definition()
	switch {
	case d.Chooses:
		return 3
	case d.Drawn:
		return 2
	}
	return 1
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
	corpus := metrics.EmpiricalPrior(counts)
	i, err := Infer(ctx, m, corpus, o, r.RepetitionSeed().Derive("inference", "full"), q.Threads)
	if err != nil {
		return nil, err
	}
	var rows []results.Row
	add := func(quantity string, v stats.Interval, note string) {
		n := results.Number(v.Estimate).Within(v.Low, v.High)
		n.Whole = i.Learned
		n.Note = note
		rows = append(rows, row.Of(quantity, n))
	}
	add("e_m_full_uniform", i.Errors[0].MAP, adversary(i.Errors[0], i.Learned, o))
	add("e_m_full_corpus", i.Errors[1].MAP, adversary(i.Errors[1], i.Learned, o))
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
		d = metrics.SampledGuessDistance(decoder, i.Fresh, distance)
		output := metrics.OutputDecoder(metrics.UniformPrior(len(counts)), m.Vocabulary().Len())
		if read := metrics.SampledGuessDistance(output, i.Fresh, distance); read.Estimate < d.Estimate {
			d = read
		}
	}
	add("e_m_full_distance", d, "")
	return rows, err
}

// adversary says whose error is the smallest, as "an attacker who …"; "" where it says
// nothing more than the number of draws does.
func adversary(e metrics.InferenceError, learned int, o InferenceOptions) string {
	if learned == 0 {
		return ""
	}
	more := ""
	if o.Most > o.Samples {
		more = fmt.Sprintf("; more would lower it by about %.4f", e.Remaining)
		if !e.Settled {
			more += ", as far as is known: it has not settled"
		}
	}
	if more == "" && e.By == metrics.ByChannel {
		return ""
	}
	return e.By.Says(learned) + more
}

// inferenceLevel is the confidence of the intervals, settled the largest change of
// E_M by twice the draws that ends their growth.
const inferenceLevel, settled = 0.95, 0.005

// Infer measures E_M over the first words of a mechanism's vocabulary, one per
// probability of the prior. The errors are those under the uniform prior and under that one.
func Infer(ctx context.Context, m *mechanisms.Mechanism, prior []float64, o InferenceOptions, seed stream.Seed,
	threads int) (out metrics.Inference, err error) {
	words, priors := numbers[mechanisms.WordID](len(prior)), [][]float64{prior}
	if channel := attack.ExactChannel(m, len(prior)); channel != nil {
		return metrics.Infer(ctx, *channel, priors, max(1, threads))
	}
	fresh, err := drawAll(ctx, m, words, o.Samples, seed.Derive("measure"), threads)
	if err != nil {
		return out, err
	}
	return metrics.InferSampled(func(n, step int, learn bool) (metrics.Draws, error) {
		from := seed.Derive("learn")
		switch {
		case !learn:
			return fresh, nil
		case step > 0:
			from = from.At(uint64(step))
		}
		return drawAll(ctx, m, words, n, from, threads)
	}, m.Vocabulary().Len(), priors, metrics.Growth{First: o.Samples, Most: cmp.Or(o.Most, o.Samples),
		Tolerance: settled, Level: inferenceLevel})
}

// inferText measures E_M over the words of a text, which has each so often, as the adversary
// knows. Where there is no closed form he learns from so many draws of each, or four times
// as many where no choice follows the noise; what more would lower is in the interval.
func inferText(ctx context.Context, m *mechanisms.Mechanism, counts []int, samples int, seed stream.Seed,
	threads int) (v stats.Interval, exact bool, err error) {
	words, prior := ofText(counts)
	priors, number := [][]float64{prior}, numbering(m, words)
	if channel := attack.ExactChannel(m, len(words)); channel != nil {
		channel.Row, channel.Rows = func(row []float64, x int) ([]float64, error) {
			of, err := m.Row(words[x])
			for y, p := range of {
				row[number[y]] = p
			}
			return row, err
		}, nil
		i, err := metrics.Infer(ctx, *channel, priors, threads)
		if err == nil {
			v = i.Errors[1].MAP
		}
		return v, true, err
	}
	tokens := SampleText(counts, 20_000, seed.Derive("words"))
	outputs := slices.Clone(tokens)
	if err := m.Privatize(ctx, outputs, tokens, seed.Derive("text").Rand()); err != nil {
		return v, false, err
	}
	if m.Choices() == nil {
		samples *= 4
	}
	draws, err := drawAll(ctx, m, words, samples, seed.Derive("learn"), threads)
	if err != nil {
		return v, false, err
	}
	all := m.Vocabulary().Len()
	measured := func(d metrics.Decoder) stats.Interval {
		wrong := 0
		for i, y := range outputs {
			if d.Guess[number[y]] != number[tokens[i]] {
				wrong++
			}
		}
		return stats.ClopperPearson(wrong, len(tokens), metrics.LevelOfEach(inferenceLevel))
	}
	half, _ := metrics.Learn(draws.First((samples+1)/2), priors, all)
	whole, _ := metrics.Learn(draws, priors, all)
	e := metrics.InferenceError{MAP: measured(whole[0]), Decoder: whole[0]}
	e.Remaining = metrics.Remaining(measured(half[0]).Estimate - e.MAP.Estimate)
	e.MAP.Low = max(0, e.MAP.Low-e.Remaining)
	return e.Bounded(prior, all, measured).MAP, false, nil
}

// numbering gives each word of a mechanism's vocabulary a number: those of some words
// are their places among them, and the others follow.
func numbering(m *mechanisms.Mechanism, words []mechanisms.WordID) []int32 {
	number, next := make([]int32, m.Vocabulary().Len()), int32(len(words))
	for i, w := range words {
		number[w] = int32(i) + 1
	}
	for y, n := range number {
		if number[y] = n - 1; n == 0 {
			number[y], next = next, next+1
		}
	}
	return number
}

// drawnTogether is the number of words that share a stream. It is constant, so
// the result does not depend on the number of threads.
const drawnTogether = 64

// drawAll draws so many outputs of every word, as numbering counts them; where a choice
// follows the noise, what it chooses from.
func drawAll(ctx context.Context, m *mechanisms.Mechanism, words []mechanisms.WordID, samples int, seed stream.Seed,
	threads int) (metrics.Draws, error) {
	if err := check.Within("draws of all words", float64(len(words)*samples), 1, math.MaxInt32); err != nil {
		return metrics.Draws{}, err
	}
	number, each, draw := numbering(m, words), drawnTogether*samples, m.Choices()
	d, choices := metrics.Draws{PerInput: samples}, make([]mechanisms.Choices, len(words)/drawnTogether+1)
	if draw == nil {
		d.Outputs = make([]int32, len(words)*samples)
	} else {
		d.Inputs, d.Choices = len(words), func(i int, take func(int32, float64)) {
			choices[i/each](i%each, func(y mechanisms.WordID, p float64) { take(number[y], p) })
		}
	}
	g, running := errgroup.WithContext(ctx)
	g.SetLimit(max(1, threads))
	for first := 0; first < len(words); first += drawnTogether {
		g.Go(func() error {
			if err := running.Err(); err != nil {
				return err
			}
			var ids []mechanisms.WordID
			for _, w := range words[first:min(first+drawnTogether, len(words))] {
				ids = append(ids, slices.Repeat([]mechanisms.WordID{w}, samples)...)
			}
			rng := seed.At(uint64(first / drawnTogether)).Rand()
			if draw != nil {
				choices[first/drawnTogether] = draw(ids, rng)
				return nil
			}
			if err := m.Privatize(running, ids, ids, rng); err != nil {
				return err
			}
			for i, y := range ids {
				d.Outputs[first*samples+i] = number[y]
			}
			return nil
		})
	}
	return d, g.Wait()
}
