package measure

import (
	"context"
	"errors"
	"fmt"

	"mldpbench/embeddings"
	"mldpbench/experiments/study"
	"mldpbench/internal/stats"
	"mldpbench/mechanisms/channel"
	"mldpbench/results"
	"mldpbench/results/quantity"
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
	// also how far the guess of a Bayes adversary is from the word, as a share of the mean distance of two words:
	// a near synonym is nearly found
	Distance bool `yaml:"distance,omitempty" json:"distance,omitempty"`
}

// The adversary's expected error, over all words.
func init() {
	Register(Measurement{
		Name:      "inference-full",
		Version:   1,
		VersionOf: inferenceVersion,
		Quantities: append(quantities("em", "em-frequency"), quantity.Quantity{
			Name:        "em-distance",
			FormerNames: []string{"e_m_full_distance"},
			Title:       "distance of guesses",
			Direction:   quantity.Up,
			Digits:      3,
			Threshold:   0.03,
			Table:       "adversary",
		}),
		Metric: study.Metric{
			Key: "inference_error",
			Doc: "the adversary's expected error E_M, over all words. Where a mechanism has a closed form, " +
				"n words cost n rows of n probabilities (27,000 words of 100 dimensions: 20 to 30 seconds on one " +
				"core), elsewhere draws.",
			Options: map[string]string{
				"samples": "of each word, for the adversary to learn from where there is no closed form, and " +
					"as many to measure on",
				"most": "if greater, those to learn from are doubled up to as many, until two doublings in a " +
					"row change E_M by less than 0.005 each; the rest is in the interval. 10 draws are 0.01 to " +
					"0.05 too kind to mechanisms of noise.",
				"distance": "also how far the guess of a Bayes adversary is from the word, as a share of the " +
					"mean distance of two words: a near synonym is nearly found",
			},
			New:   func() any { return &InferenceOptions{} },
			Check: checkInference,
		},
		Applies: func(s *Spec, q *Query) bool { return hasText(s, q) && s.Repetition == 1 },
		Measure: measureInference,
	})
}

// checkInference validates the options of the adversary's expected error.
func checkInference(options any, _ *study.Design, at study.At) error {
	o := options.(*InferenceOptions)
	if o.Samples == 0 {
		return at(errors.New("metrics.inference_error: samples must be given, "+
			"for mechanisms without a closed form"), "")
	}
	if o.Most > 0 && o.Most < o.Samples {
		return at(fmt.Errorf("metrics.inference_error: most = %d: must be >= samples = %d", o.Most, o.Samples), "most")
	}
	return nil
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
		return []results.Row{unmeasured(row, "em", notOfWords)}, nil
	}
	counts := make([]int, m.Vocabulary().Len())
	for word, count := range r.Corpus.Counts {
		if id := m.Vocabulary().ID(word); id != embeddings.Unknown {
			counts[id] = count
		}
	}
	counts = counts[:r.Space.Len()]
	i, err := channel.Estimate(ctx, m, channel.Empirical(counts), channel.Options{
		Samples: o.Samples,
		Most:    o.Most,
		Seed:    r.RepetitionSeed().Derive("inference", "full"),
		Threads: q.Threads,
	})
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
	add("em", i.Errors[0].MAP, adversary(i.Errors[0], i.Learned, o))
	add("em-frequency", i.Errors[1].MAP, adversary(i.Errors[1], i.Learned, o))
	if !o.Distance {
		return rows, nil
	}
	space := r.batch.env.Space
	distance := func(a, b int) float64 {
		return space.Distance(embeddings.WordID(a), embeddings.WordID(b))
	}
	d, err := i.Distance(ctx, channel.Of(m, len(counts)), distance, max(1, q.Threads))
	add("em-distance", d, "")
	return rows, err
}

// adversary says whose error is the smallest, as "an attacker who …"; "" where it says
// nothing more than the number of draws does.
func adversary(e channel.Error, learned int, o InferenceOptions) string {
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
	if more == "" && e.By == channel.ByChannel {
		return ""
	}
	return e.By.Says(learned) + more
}
