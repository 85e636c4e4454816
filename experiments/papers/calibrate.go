package papers

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"mldpbench/embeddings"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
	"mldpbench/results"
)

// CalibrateRequest selects the mechanisms that Calibrate calibrates, and their
// data.
type CalibrateRequest struct {
	Data       string
	Embedding  study.EmbeddingSpec
	Mechanisms []string // nil: all that return words
	Targets    []measure.Target
	Restrict   string // keep only words of this data set, the mechanisms' corpus; "" for none
	Vocabulary int    // the first so many words of the embedding, 0 for all
	Words      int    // drawn from the vocabulary
	Runs       int
	Tolerance  float64 // of em
	Seed       uint64
}

// CalibratedMechanism is the answer for one mechanism; where the target is out
// of reach, Epsilon is missing and Reason says why.
type CalibratedMechanism struct {
	Mechanism  string        `csv:"mechanism"`
	Variant    string        `csv:"variant"`
	Parameters string        `csv:"parameters"`
	Target     string        `csv:"target"`
	Epsilon    results.Float `csv:"epsilon"`
	Achieved   results.Float `csv:"achieved"`
	Low        results.Float `csv:"low"` // of the interval of a sampled error, 95%
	High       results.Float `csv:"high"`
	Runs       int           `csv:"runs"` // per word, 0 where exact
	Exact      bool          `csv:"exact"`
	Guarantee  string        `csv:"guarantee_metric"`
	Reason     string        `csv:"reason"`
}

// Calibrate calibrates mechanisms, in their default variants, to each target, and
// passes on each row as soon as it is found. The targets of one mechanism share
// what was evaluated.
func Calibrate(ctx context.Context, q CalibrateRequest, each func(CalibratedMechanism) error) error {
	if q.Mechanisms == nil {
		for _, d := range mechanisms.Definitions() {
			if d.New != nil {
				q.Mechanisms = append(q.Mechanisms, d.Name)
			}
		}
	}
	if err := q.Embedding.Check(); err != nil {
		return err
	}
	l := lab.New(q.Data)
	seed := studySeed(&study.Header{Protocol: "calibrate", Seed: q.Seed})
	var corpus *measure.Corpus
	var space *embeddings.Space
	var err error
	if q.Restrict == "" {
		space, err = l.Words(ctx, q.Embedding, q.Embedding.Dimensions[0])
	} else {
		sample := lab.Sample{Dataset: study.DatasetSpec{Name: q.Restrict}, Seed: seed.Derive("dataset")}
		if corpus, err = l.Corpus(ctx, sample); err != nil {
			return err
		}
		var restricted *measure.Space
		if restricted, err = l.Space(ctx, sample, q.Embedding, q.Embedding.Dimensions[0], false); err == nil {
			space = restricted.Space
		}
	}
	if err != nil {
		return err
	}
	if err := check.AtLeast("vocabulary", q.Vocabulary, 0); err != nil {
		return err
	}
	if q.Vocabulary > 0 {
		if space, err = space.Restrict(embeddings.First(q.Vocabulary, nil)); err != nil {
			return err
		}
	}
	words := measure.SampleWords(space, q.Words, seed.Derive("words"))
	for _, name := range q.Mechanisms {
		settings, err := mechanisms.Complete(mechanisms.Settings{Mechanism: name, Epsilon: 1})
		if err != nil {
			return err
		}
		d, err := mechanisms.Find(name)
		if err != nil {
			return err
		}
		env, err := l.Environment(space, corpus, d.Needs, seed)
		if err != nil {
			return err
		}
		var known []measure.CalibrationStep
		for _, target := range q.Targets {
			row := CalibratedMechanism{
				Mechanism: name, Variant: string(settings.Variant), Parameters: settings.Parameters.String(),
				Target: target.String(), Epsilon: results.Missing, Achieved: results.Missing, Low: results.Missing,
				High: results.Missing,
			}
			c, err := measure.Calibrate(ctx, env, settings, measure.CalibrationOptions{
				Target: target, Words: words, Runs: q.Runs, Seed: seed.Derive(name), Tolerance: q.Tolerance,
				Threads: runtime.GOMAXPROCS(0), Known: known,
			})
			if err := ctx.Err(); err != nil {
				return err
			}
			if target.Quantity == "em" {
				known = c.Trace
			}
			if err != nil {
				row.Reason = err.Error()
			} else {
				settings.Epsilon = c.Epsilon
				m, err := mechanisms.New(env, settings)
				if err != nil {
					return err
				}
				row.Epsilon, row.Achieved, row.Exact = results.Float(c.Epsilon), results.Float(c.Achieved), c.Exact
				row.Low, row.High = results.Float(c.Interval.Low), results.Float(c.Interval.High)
				if !c.Exact {
					row.Runs = q.Runs
				}
				row.Guarantee, row.Reason = m.Guarantee().Metric, m.Guarantee().Reason
			}
			if err := each(row); err != nil {
				return err
			}
		}
	}
	return nil
}

// studyEntry is a study.MechanismSpec with its ε on one line.
type studyEntry struct {
	Name     string    `yaml:"name"`
	Epsilons []float64 `yaml:"epsilons,flow"`
}

// StudyFragment writes calibrated mechanisms as entries of a study's list, with
// comments that say what each ε is for.
type StudyFragment struct {
	To   io.Writer
	rows []CalibratedMechanism
}

// Take gathers the rows of a mechanism and writes those of the one before.
func (f *StudyFragment) Take(row CalibratedMechanism) error {
	if len(f.rows) > 0 && f.rows[0].Mechanism != row.Mechanism {
		if err := f.Flush(); err != nil {
			return err
		}
	}
	f.rows = append(f.rows, row)
	return nil
}

// Flush writes what is left: the ε of a mechanism, rising, with a comment for
// each target.
func (f *StudyFragment) Flush() error {
	if len(f.rows) == 0 {
		return nil
	}
	entry := studyEntry{Name: f.rows[0].Mechanism}
	var comments []string
	for _, r := range f.rows {
		if !r.Epsilon.Known() {
			comments = append(comments, " "+r.Reason)
			continue
		}
		entry.Epsilons = append(entry.Epsilons, float64(r.Epsilon))
		comments = append(comments, fmt.Sprintf(" %s: %.3g at epsilon = %g", r.Target, float64(r.Achieved),
			float64(r.Epsilon)))
	}
	f.rows = nil
	slices.Sort(entry.Epsilons)
	entry.Epsilons = slices.Compact(entry.Epsilons)
	if len(entry.Epsilons) == 0 {
		_, err := fmt.Fprintf(f.To, "  #%s\n", strings.Join(comments, "\n  #"))
		return err
	}
	text, err := yaml.MarshalWithOptions([]studyEntry{entry}, yaml.IndentSequence(true),
		yaml.WithComment(yaml.CommentMap{"$[0]": {yaml.HeadComment(comments...)}}))
	if err != nil {
		return err
	}
	_, err = f.To.Write(text)
	return err
}
