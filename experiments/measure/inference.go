package measure

import (
	"context"
	"errors"
	"fmt"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/results"
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
	if !mechanisms.TakesWords(m) {
		return []results.Row{unmeasured(row, "e_m_map", notOfWords)}, nil
	}
	adversary := Adversary{
		Candidates: SampleWords(r.Space.Space, o.Candidates, r.ProbeSeed().Derive("inference")),
		Space:      r.Space.Space, Polarity: r.Corpus.Polarity, Runs: o.Samples,
	}
	e, err := adversary.Infer(m, Draw(ctx, m, r.RepetitionSeed().Derive("inference").Rand()))
	if err := errors.Join(err, mechanisms.Err(m), ctx.Err()); err != nil {
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

func (f *FullError) measured(i metrics.Interval) results.Measured {
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
	if err != nil || !mechanisms.TakesWords(m) {
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
