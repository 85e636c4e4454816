package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/stream"
)

// inferenceOptions are the options of the adversary's expected error E_M.
type inferenceOptions struct {
	// words the adversary chooses among
	Candidates int `yaml:"candidates,omitempty" json:"candidates" limits:"0,1000000"`
	// outputs drawn per word where there is no closed form
	Samples int `yaml:"samples,omitempty" json:"samples" limits:"0,1000000"`
	// Full also measures against an adversary whose candidates are all words,
	// once per mechanism and ε. Exact, n words cost n rows of n probabilities
	// (27,000 words of 100 dimensions: 20 to 30 seconds on one core);
	// sampled, 2 × samples draws of each word.
	Full bool `yaml:"full,omitempty" json:"-"`
	// Most, of Full, is how many draws of each word the adversary learns from at
	// most. From samples on, they are doubled until two doublings in a row change
	// E_M by less than 0.005 each; the rest is in the interval. 0: samples. 10
	// draws are 0.01 to 0.05 too kind to mechanisms of noise.
	Most int `yaml:"most,omitempty" json:"-" limits:"0,100000"`
	// Distance, of Full, also weighs the loss: how far the best guess is from the
	// word, as a share of the mean distance of two words. A near synonym is nearly
	// found.
	Distance bool `yaml:"distance,omitempty" json:"-"`
	// Learned, of candidates, is the adversary of Xu et al. 2021b, who learns the
	// mechanism's distribution from half of the samples, whether it is known or not,
	// and guesses an output that did not occur to be the word itself.
	Learned bool `yaml:"learned,omitempty" json:"learned,omitempty"`
	// Prior of the candidates: uniform, or corpus, how often each occurs.
	Prior string `yaml:"prior,omitempty" json:"prior,omitempty"`
	// Candidates occur so many times in the data set; 0 of the second: no bound.
	MinCount int `yaml:"min_count,omitempty" json:"min_count,omitempty" limits:"0,1000000000"`
	MaxCount int `yaml:"max_count,omitempty" json:"max_count,omitempty" limits:"0,1000000000"`
}

// options are those of the measurements over all words.
func (o *inferenceOptions) options() FullOptions { return FullOptions{o.Samples, o.Most} }

func init() {
	metric := study.Metric{Key: "inference_error", New: func() any { return &inferenceOptions{} }, Check: checkInference}
	Register(Measurement{
		Name: "inference", Version: 1,
		Columns: columns("e_m_posterior", "e_m_posterior_euclidean", "e_m_map", "e_m_map_euclidean", "e_m_map_lower",
			"l_m"),
		Metric: metric,
		Applies: func(s *Spec, q *Query) bool {
			return hasText(s, q) && q.Options.(*inferenceOptions).Candidates > 0
		},
		Measure: measureInference,
	})
	Register(Measurement{
		Name: "inference-full", Version: 1, Columns: columns("e_m_full_uniform", "e_m_full_corpus"),
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			o, ok := scene.Metrics[metric.Key].(*inferenceOptions)
			if !ok || !o.Full {
				return nil, false
			}
			if o.Most <= o.Samples {
				return o.Samples, true
			}
			return o.options(), true
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureFull,
	})
	Register(Measurement{
		Name: "inference-distance", Version: 1,
		Columns: []results.Column{{Name: "e_m_full_distance", Title: "distance of guesses, full vocabulary",
			Direction: results.Up, Digits: 3, Threshold: 0.03, Table: "adversary"}},
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			o, ok := scene.Metrics[metric.Key].(*inferenceOptions)
			if !ok || !o.Distance {
				return nil, false
			}
			return o.options(), true
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureDistance,
	})
}

func checkInference(options any, _ *study.Design, at study.At) error {
	o := options.(*inferenceOptions)
	switch {
	case !o.Full && (o.Most > 0 || o.Distance):
		return at(errors.New("metrics.inference_error: most and distance are those of full: full must be true"), "")
	case o.Most > 0 && o.Most < o.Samples:
		return at(fmt.Errorf("metrics.inference_error: most = %d: must be >= samples = %d", o.Most, o.Samples), "most")
	case o.Full && o.Samples == 0:
		return at(errors.New("metrics.inference_error: full needs samples, for mechanisms without a closed form"), "")
	case o.Candidates > 0 && (o.Samples < 2 || o.Samples%2 != 0):
		return at(fmt.Errorf("metrics.inference_error: samples = %d: must be even and >= 2: half are learned from",
			o.Samples), "samples")
	case o.Prior != "" && o.Prior != "uniform" && o.Prior != "corpus":
		return at(fmt.Errorf("metrics.inference_error: prior = %q: must be uniform or corpus", o.Prior), "prior")
	case o.Candidates == 0 && !o.Full:
		return at(errors.New("metrics.inference_error: candidates or full must be given"), "")
	}
	return nil
}

// measureInference is the error of an adversary who guesses a word among a few
// that are drawn, and, of words with a class, how often the class changes.
func measureInference(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*inferenceOptions)
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if !m.TakesWords() {
		return []results.Row{unmeasured(row, "e_m_map", notOfWords)}, nil
	}
	adversary, err := o.adversary(r)
	if err != nil {
		return nil, err
	}
	e, err := adversary.Infer(m, Draw(ctx, m, r.RepetitionSeed().Derive("inference").Rand()))
	if err != nil {
		return nil, err
	}
	var rows []results.Row
	for _, x := range []struct {
		quantity string
		v        float64
	}{{"e_m_posterior", e.Posterior}, {"e_m_posterior_euclidean", e.PosteriorEuclidean}, {"e_m_map", e.MAP},
		{"e_m_map_euclidean", e.MAPEuclidean}, {"e_m_map_lower", e.MAPLower}, {"l_m", e.LM}} {
		n := results.Number(x.v)
		if n.Part, n.Whole = e.Candidates, e.Runs; !n.Value.Known() {
			continue
		}
		if s := results.Float(e.StandardError); x.quantity == "e_m_map" && s.Known() {
			n.Note = "standard error " + s.String()
		}
		rows = append(rows, row.Of(x.quantity, n))
	}
	return rows, nil
}

// adversary is who guesses, and among which words.
func (o *inferenceOptions) adversary(r *Release) (a Adversary, err error) {
	seed := r.ProbeSeed().Derive("inference")
	a = Adversary{Space: r.Space.Space, Polarity: r.Corpus.Polarity, Runs: o.Samples, Sampled: o.Learned}
	count := func(id mechanisms.WordID) int { return r.Corpus.Counts[r.Space.Vocabulary.Word(id)] }
	if o.MinCount == 0 && o.MaxCount == 0 {
		a.Candidates = SampleWords(r.Space.Space, o.Candidates, seed)
	} else {
		between := slices.DeleteFunc(numbers[mechanisms.WordID](r.Space.Len()), func(id mechanisms.WordID) bool {
			n := count(id)
			return n < o.MinCount || o.MaxCount > 0 && n > o.MaxCount
		})
		if len(between) == 0 {
			return a, fmt.Errorf("no word occurs between %d and %d times", o.MinCount, o.MaxCount)
		}
		a.Candidates = metrics.SampleWords(between, o.Candidates, seed.Rand())
	}
	if o.Prior == "corpus" {
		if a.Prior, err = metrics.EmpiricalPrior(list.Map(a.Candidates, count), 0); err != nil {
			return a, err
		}
	}
	if o.Learned {
		a.Space, a.Fallback = nil, a.Itself()
	}
	return a, nil
}

// measureFull is the error of an adversary whose candidates are all words.
func measureFull(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	full, err := r.fullError(ctx, q)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if full == nil {
		return []results.Row{unmeasured(row, "e_m_full_uniform", notOfWords)}, nil
	}
	return []results.Row{row.Of("e_m_full_uniform", full.measured(full.Uniform)),
		row.Of("e_m_full_corpus", full.measured(full.Corpus))}, nil
}

// measureDistance is how far the guesses of the same adversary are from the word.
func measureDistance(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	full, err := r.fullError(ctx, q)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if full == nil {
		return []results.Row{unmeasured(row, "e_m_full_distance", notOfWords)}, nil
	}
	space := r.batch.env.Space
	d, err := full.GuessDistance(ctx, func(a, b int) float64 {
		return space.Distance(embeddings.WordID(a), embeddings.WordID(b))
	}, q.Threads)
	if err != nil {
		return nil, err
	}
	return []results.Row{row.Of("e_m_full_distance", full.measured(d))}, nil
}

func (f *FullError) measured(i stats.Interval) results.Measured {
	n := results.Number(i.Estimate).Within(i.Low, i.High)
	n.Whole, n.Note = f.Runs, f.Note
	return n
}

// full are the options of the measurements over all words; zero of others.
func (q *Query) full() FullOptions {
	o, grows := q.Options.(FullOptions)
	if !grows {
		o.Samples, _ = q.Options.(int)
	}
	o.Most = max(o.Most, o.Samples)
	return o
}

// FullDraws is how many outputs of every word are drawn where there is no closed
// form; 0 where not all words are measured.
func (q *Query) FullDraws() int {
	o := q.full()
	return o.Samples + o.Most
}

// fullError is the adversary that the measurements over all words share; nil
// where the mechanism takes no words.
func (r *Release) fullError(ctx context.Context, q *Query) (*FullError, error) {
	m, err := r.Words(ctx)
	if err != nil || !m.TakesWords() {
		return nil, err
	}
	o := q.full()
	return Once(r, fmt.Sprint("full error ", o), func() (*FullError, error) {
		counts := make([]int, m.Vocabulary().Len())
		for word, count := range r.Corpus.Counts {
			if id := m.Vocabulary().ID(word); id != embeddings.Unknown {
				counts[id] = count
			}
		}
		full, err := InferFull(ctx, m, counts[:r.Space.Len()], o, r.RepetitionSeed().Derive("inference", "full"),
			q.Threads)
		return &full, err
	})
}

// FullError is E_M MAP, 0/1 loss, of an adversary whose candidates are all
// input words. It is either exact, with intervals of width 0, or that of an
// adversary who learned the channel from draws, with 95% intervals.
type FullError struct {
	Uniform stats.Interval // adversary without knowledge of word frequencies
	Corpus  stats.Interval // adversary that knows how often each occurs
	Runs    int            // draws per word to learn from; 0 when exact
	Note    string         // what more draws would do

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
func InferFull(ctx context.Context, m *mechanisms.Mechanism, counts []int, o FullOptions, seed stream.Seed,
	threads int) (FullError, error) {
	var out FullError
	prior, err := metrics.EmpiricalPrior(counts, 1)
	if err != nil {
		return out, err
	}
	priors := [][]float64{metrics.UniformPrior(len(counts)), prior}
	outputs := m.Vocabulary().Len()
	if channel := attack.ExactChannel(m, len(counts)); channel != nil {
		full, err := metrics.FullVocabulary(ctx, *channel, priors, max(1, threads))
		if err != nil {
			return out, err
		}
		return FullError{Uniform: stats.Exactly(full.MAP[0]), Corpus: stats.Exactly(full.MAP[1]),
			channel: channel, decoder: full.Decoders[0]}, nil
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
	threads int) (stats.Interval, error) {
	if f.channel != nil {
		return metrics.GuessDistance(ctx, *f.channel, f.decoder, distance, max(1, threads))
	}
	return metrics.SampledGuessDistance(f.decoder, f.fresh, distance)
}

// drawAll draws so many outputs of every word.
func drawAll(ctx context.Context, m *mechanisms.Mechanism, words, samples int, seed stream.Seed,
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
