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
	"mldpbench/stream"
)

// deniabilityOptions are the options of N_w and S_w.
type deniabilityOptions struct {
	Words int `yaml:"words,omitempty" json:"words" limits:"0,1000000"` // drawn from the vocabulary
	Runs  int `yaml:"runs,omitempty" json:"runs" limits:"0,1000000"`   // of each word
	// Listed are the words, instead of words that are drawn: so many, or so many for
	// each of several times.
	Listed []string `yaml:"listed,omitempty" json:"listed,omitempty"`
	// Times is the number of measurements, with the same words but for listed ones;
	// they count as repetitions. 0: one for each repetition.
	Times int `yaml:"times,omitempty" json:"times,omitempty" limits:"0,10000"`
}

// N_w and S_w.
func init() {
	Register(Measurement{
		Name:       "deniability",
		Version:    1,
		WordsAlone: true,
		Quantities: quantities("n_w", "s_w"),
		Metric: study.Metric{
			Key: "deniability",
			Doc: "N_w and S_w.",
			Options: map[string]string{
				"words": "drawn from the vocabulary",
				"runs":  "of each word",
				"times": "Times is the number of measurements, with the same words but for listed ones; they " +
					"count as repetitions. 0: one for each repetition.",
				"listed": "the words, instead of drawn ones: so many, or so many for each of times",
			},
			New: func() any { return &deniabilityOptions{} },
			Check: func(options any, d *study.Design, at study.At) error {
				return at(options.(*deniabilityOptions).check(d), "")
			},
		},
		Measure: measureDeniability,
	})
}

// measureDeniability sends words through the mechanism many times: how often
// each is returned unchanged, N_w, and how many different outputs it has, S_w.
func measureDeniability(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*deniabilityOptions)
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	if !m.TakesWords() {
		return []results.Row{unmeasured(row, "n_w", notOfWords)}, nil
	}
	words := SampleWords(r.Space.Space, o.Words, r.ProbeSeed().Derive("deniability"))
	seed := r.RepetitionSeed().Derive("deniability")
	if o.Times == 0 && o.Listed == nil {
		return deniabilityRows(ctx, row, m, sending{words, nil, o.Runs, seed})
	}
	var rows []results.Row
	var kept []string
	for i := range max(1, o.Times) {
		if o.Times > 0 {
			row.Repetition = i + 1
		}
		if o.Listed != nil {
			words, kept = o.list(i, m.Vocabulary())
		}
		if len(kept) > 0 && r.Policy != mechanisms.Keep {
			return nil, fmt.Errorf("metrics.deniability.listed: %q is no word of the mechanism, and policy is not keep",
				kept[0])
		}
		more, err := deniabilityRows(ctx, row, m, sending{words, kept, o.Runs, seed.At(uint64(i))})
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

func (o *deniabilityOptions) check(d *study.Design) error {
	switch {
	case o.Words < 1 || o.Runs < 1:
		return errors.New("metrics.deniability: words and runs must both be given")
	case o.Times > 0 && d.Repetitions > 1:
		return errors.New("metrics.deniability.times: are the repetitions of one text: repetitions must be 1")
	case o.Listed != nil && len(o.Listed) != o.Words && len(o.Listed) != o.Words*o.Times:
		return fmt.Errorf("metrics.deniability.listed: %d words: must be words = %d, or as many for each of times",
			len(o.Listed), o.Words)
	}
	return nil
}

// list returns the words of one time; kept are those that the mechanism has not.
func (o *deniabilityOptions) list(time int, v *embeddings.Vocabulary) (words []mechanisms.WordID, kept []string) {
	from := time * o.Words % len(o.Listed)
	for _, word := range o.Listed[from : from+o.Words] {
		if id := v.ID(word); id == embeddings.Unknown {
			kept = append(kept, word)
		} else {
			words = append(words, id)
		}
	}
	return words, kept
}

// sending is what one measurement sends through the mechanism.
type sending struct {
	words []mechanisms.WordID
	kept  []string // not sent: they always come back
	runs  int      // of each word
	seed  stream.Seed
}

// deniabilityRows are those of one measurement.
func deniabilityRows(ctx context.Context, row results.Row, m *mechanisms.Mechanism, s sending) ([]results.Row, error) {
	outcomes, err := metrics.MeasureDeniability(s.words, s.runs, drawing(ctx, m, s.seed.Rand()))
	if err != nil {
		return nil, err
	}
	named := make([]metrics.Deniability[string], len(outcomes))
	for i, d := range outcomes {
		named[i] = metrics.Deniability[string]{
			Word:      m.Vocabulary().Word(d.Word),
			Runs:      d.Runs,
			Unchanged: d.Unchanged,
			Distinct:  d.Distinct,
		}
	}
	for _, w := range s.kept {
		named = append(named, metrics.Deniability[string]{
			Word:      w,
			Runs:      s.runs,
			Unchanged: s.runs,
			Distinct:  1,
		})
	}
	nw, sw := results.Deniability(named)
	return []results.Row{row.Of("n_w", nw), row.Of("s_w", sw)}, nil
}

// notOfWords is the reason where a mechanism from outside takes whole documents
// only.
const notOfWords = "the mechanism takes no single words"
