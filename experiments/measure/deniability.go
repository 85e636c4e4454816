package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	// Python holds seeds by data set. The words are then those that Python's
	// random.sample draws with this seed from the words of the train texts, by
	// falling frequency; else words of the space are drawn.
	Python map[string]uint64 `yaml:"python,omitempty" json:"python,omitempty"`
	// Others, with python and times, draws other words for each measurement, with the
	// next seed, from those that the space has.
	Others bool `yaml:"others,omitempty" json:"others,omitempty"`
	// Times is the number of measurements, with the same words but for others; they
	// count as repetitions. 0: one for each repetition.
	Times int `yaml:"times,omitempty" json:"times,omitempty" limits:"0,10000"`
}

func init() {
	Register(Measurement{
		Name: "deniability", Version: 1,
		Columns: columns("n_w", "s_w", "n_w_exact", "s_w_exact", "s_w_support", "n_w_worst", "s_w_worst"),
		Metric: study.Metric{Key: "deniability", New: func() any { return &deniabilityOptions{} },
			Check: func(options any, d *study.Design, at study.At) error {
				return at(options.(*deniabilityOptions).check(d), "")
			}},
		Applies: hasText,
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
	var ranked, kept []string
	python := o.Python[r.Dataset.Name]
	if o.Python != nil {
		if ranked = embeddings.ByFrequency(r.Corpus.TrainTexts()); o.Others {
			ranked = slices.DeleteFunc(ranked, func(w string) bool { return r.Space.Vocabulary.ID(w) == embeddings.Unknown })
		}
		words, kept, err = pythonWords(ranked, o.Words, python, m.Vocabulary())
		if err == nil && len(kept) > 0 && r.Policy != mechanisms.Keep {
			err = fmt.Errorf("%q is no word of the mechanism, and policy is not keep", kept[0])
		}
		if err != nil {
			return nil, fmt.Errorf("metrics.deniability.python: %w", err)
		}
	}
	seed := r.RepetitionSeed().Derive("deniability")
	if o.Times == 0 {
		return deniabilityRows(ctx, row, m, words, kept, o.Runs, seed, true)
	}
	var rows []results.Row
	for i := range o.Times {
		row.Repetition = i + 1
		if i > 0 && o.Others {
			if words, _, err = pythonWords(ranked, o.Words, python+uint64(i), m.Vocabulary()); err != nil {
				return nil, err
			}
		}
		more, err := deniabilityRows(ctx, row, m, words, kept, o.Runs, seed.At(uint64(i)), i == 0)
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
	case o.Others && (o.Python == nil || o.Times == 0):
		return errors.New("metrics.deniability.others: are words of python, for each of several times: " +
			"python and times must be given")
	case o.Python != nil && len(d.Datasets) == 0:
		return errors.New("metrics.deniability.python: draws from train texts: the study has no data set")
	}
	for _, x := range d.Datasets {
		if _, ok := o.Python[x.Name]; o.Python != nil && !ok {
			return fmt.Errorf("metrics.deniability.python: no seed for data set %q", x.Name)
		}
	}
	return nil
}

// pythonWords are words of a list as the comparative study's code draws them; kept
// are those that the mechanism has not.
func pythonWords(ranked []string, n int, seed uint64, v *embeddings.Vocabulary) (words []mechanisms.WordID,
	kept []string,
	err error) {
	drawn, err := stream.PythonSample(seed, len(ranked), n)
	for _, number := range drawn {
		if id := v.ID(ranked[number]); id == embeddings.Unknown {
			kept = append(kept, ranked[number])
		} else {
			words = append(words, id)
		}
	}
	return words, kept, err
}

// deniabilityRows are those of one measurement; with closed, of closed forms too.
// kept words always come back.
func deniabilityRows(ctx context.Context, row results.Row, m *mechanisms.Mechanism, words []mechanisms.WordID,
	kept []string,
	runs int, seed stream.Seed, closed bool) ([]results.Row, error) {
	outcomes, err := metrics.MeasureDeniability(words, runs, Draw(ctx, m, seed.Rand()))
	if err != nil {
		return nil, err
	}
	named := make([]metrics.Deniability[string], len(outcomes))
	for i, d := range outcomes {
		named[i] = metrics.Deniability[string]{Word: m.Vocabulary().Word(d.Word), Runs: d.Runs, Unchanged: d.Unchanged,
			Distinct: d.Distinct}
	}
	for _, w := range kept {
		named = append(named, metrics.Deniability[string]{Word: w, Runs: runs, Unchanged: runs, Distinct: 1})
	}
	nw, sw := results.Deniability(named)
	rows := []results.Row{row.Of("n_w", nw), row.Of("s_w", sw)}
	worst := metrics.TotalDeniability(named)
	exactNw, exactSw, support := math.NaN(), math.NaN(), math.NaN()
	if closed && len(kept) == 0 {
		exactNw, exactSw, support = ExactDeniability(m, words, runs)
	}
	for _, x := range []struct {
		quantity string
		v        float64
	}{{"n_w_exact", exactNw}, {"s_w_exact", exactSw}, {"s_w_support", support},
		{"n_w_worst", worst.WorstNw}, {"s_w_worst", float64(worst.WorstSw)}} {
		if n := results.Number(x.v); n.Value.Known() {
			rows = append(rows, row.Of(x.quantity, n))
		}
	}
	return rows, nil
}

// notOfWords is the reason where a mechanism from outside takes whole documents
// only.
const notOfWords = "the mechanism takes no single words"
