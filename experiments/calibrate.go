package experiments

import (
	"context"
	"errors"
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
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/results"
	"mldpbench/stream"
)

// CalibrateRequest selects the mechanisms that Calibrate calibrates, and their
// data.
type CalibrateRequest struct {
	Data      string
	Embedding study.EmbeddingSpec
	// Mechanisms are settings without ε, also of commands; nil: all built in that
	// return words, in their default variants.
	Mechanisms []mechanisms.Settings
	Targets    []measure.Target
	Restrict   *study.DatasetSpec // keep only its words; the corpus of mechanisms that need one; nil for none
	Vocabulary int                // the first so many words of the embedding, 0 for all
	Words      int                // drawn from the vocabulary
	Runs       int
	Tolerance  float64 // of em, beyond the target
	Seed       uint64
	Log        io.Writer // for warnings; nil for none
}

// CalibratedMechanism is the answer for one mechanism; where the target is out
// of reach, Epsilon is missing and Reason says why.
type CalibratedMechanism struct {
	Mechanism  string           `csv:"mechanism"`
	Variant    string           `csv:"variant"`
	Parameters string           `csv:"parameters"`
	Target     string           `csv:"target"`
	Epsilon    results.Optional `csv:"epsilon"`
	Achieved   results.Optional `csv:"achieved"`
	Low        results.Optional `csv:"low"` // of the interval of a sampled error, 95%
	High       results.Optional `csv:"high"`
	Runs       int              `csv:"runs"` // per word, 0 where exact
	Exact      bool             `csv:"exact"`
	Guarantee  string           `csv:"guarantee_metric"`
	Reason     string           `csv:"reason"`

	given mechanisms.Settings // as requested
}

// Calibrate calibrates mechanisms to each target, and passes on each row as soon
// as it is found. The targets of one mechanism share what was evaluated. A
// command is asked word by word; where it fails, so does Calibrate.
func Calibrate(ctx context.Context, q CalibrateRequest, each func(CalibratedMechanism) error) (err error) {
	if q.Mechanisms == nil {
		for _, d := range mechanisms.Definitions() {
			if d.New != nil {
				q.Mechanisms = append(q.Mechanisms, mechanisms.Settings{Mechanism: d.Name})
			}
		}
	}
	l, seed := lab.New(q.Data), stream.FromUint64(q.Seed).Derive("papers", "calibrate")
	defer func() { err = errors.Join(err, l.Close()) }()
	space, corpus, err := q.open(ctx, l, seed)
	if err != nil {
		return err
	}
	words := measure.SampleWords(space, q.Words, seed.Derive("words"))
	answers := len(q.Mechanisms) * len(q.Targets)
	bar := progress.Start(ctx, "targets", answers, float64(answers))
	defer bar.Close()
	for _, given := range q.Mechanisms {
		given.Epsilon = 1 // checked without it
		settings, err := mechanisms.Complete(given)
		if err != nil {
			return err
		}
		d, err := settings.Definition()
		if err != nil {
			return err
		}
		env, err := l.Environment(space, corpus, d.Needs, seed)
		if err != nil {
			return err
		}
		o := measure.CalibrationOptions{
			Words: words, Runs: q.Runs, Seed: seed.Derive(settings.Mechanism), Tolerance: q.Tolerance,
			Threads: runtime.GOMAXPROCS(0),
		}
		env.Outside = l.WordByWord(ctx, space)
		for _, o.Target = range q.Targets {
			o.Below = q.least(o.Target)
			row, err := calibrated(ctx, env, settings, &o)
			if err == nil {
				row.given = given
				bar.Add(1, 1, settings.Mechanism)
				err = each(row)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// least says that a target is the smallest of several: the others are reached
// from above, so that a comparison at each of them has points on both sides.
func (q CalibrateRequest) least(t measure.Target) bool {
	return slices.ContainsFunc(q.Targets, func(u measure.Target) bool { return u.Value > t.Value }) &&
		!slices.ContainsFunc(q.Targets, func(u measure.Target) bool { return u.Value < t.Value })
}

// open opens the words that may be outputs, and the corpus where one is given.
func (q CalibrateRequest) open(ctx context.Context, l *lab.Lab, seed stream.Seed) (space *embeddings.Space,
	corpus *lab.Corpus, err error) {
	if err := errors.Join(q.Embedding.Check(q.Data), check.AtLeast("vocabulary", q.Vocabulary, 0),
		check.AtLeast("runs", q.Runs, 2)); err != nil {
		return nil, nil, err
	}
	dimension := q.Embedding.Dimensions[0]
	if q.Restrict == nil {
		space, err = l.Words(ctx, q.Embedding, dimension)
	} else {
		if err := q.Restrict.Check(); err != nil {
			return nil, nil, err
		}
		sample := lab.Sample{Dataset: *q.Restrict, Seed: seed.Derive("dataset")}
		if corpus, err = l.Corpus(ctx, sample); err != nil {
			return nil, nil, err
		}
		var restricted *lab.Space
		if restricted, err = l.Space(ctx, sample, q.Embedding, dimension, false); err == nil {
			space = restricted.Space
		}
	}
	if err == nil && q.Vocabulary > 0 {
		space, err = space.Restrict(embeddings.First(q.Vocabulary, nil))
	}
	if err == nil {
		lab.WarnOneWord(q.Log, space)
	}
	return space, corpus, err
}

// calibrated is the row of one mechanism and target. A target that is out of
// reach is an answer, and so is a built-in mechanism that cannot be built here.
func calibrated(ctx context.Context, env mechanisms.Environment, settings mechanisms.Settings,
	o *measure.CalibrationOptions) (CalibratedMechanism, error) {
	row := CalibratedMechanism{
		Mechanism: settings.Mechanism, Variant: string(settings.Variant), Parameters: settings.Parameters.String(),
		Target: o.Target.String(), Epsilon: results.Missing, Achieved: results.Missing, Low: results.Missing,
		High: results.Missing,
	}
	c, err := measure.Calibrate(ctx, env, settings, *o)
	if err := ctx.Err(); err != nil {
		return row, err
	}
	if o.Target.Quantity == "em" {
		o.Known = c.Trace
	}
	if err != nil {
		row.Reason = err.Error()
		var far *measure.OutOfReach
		if settings.Outside == nil || errors.As(err, &far) {
			err = nil
		}
		return row, err
	}
	settings.Epsilon = c.Epsilon
	m, err := mechanisms.New(env, settings)
	if err != nil {
		return row, err
	}
	row.Epsilon, row.Achieved, row.Exact = results.Float(c.Epsilon), results.Float(c.Achieved), c.Exact
	row.Low, row.High = results.Float(c.Interval.Low), results.Float(c.Interval.High)
	if !c.Exact {
		row.Runs = o.Runs
	}
	row.Guarantee, row.Reason = m.Guarantee().Metric, m.Guarantee().Reason
	return row, nil
}

// studyEntry is a study.MechanismSpec with its ε on one line.
type studyEntry struct {
	Name               string `yaml:"name"`
	mechanisms.Outside `yaml:",inline"`
	Variant            mechanisms.Variant    `yaml:"variant,omitempty"`
	Parameters         mechanisms.Parameters `yaml:"parameters,flow,omitempty"`
	Epsilons           []float64             `yaml:"epsilons,flow"`
}

// StudyEntries writes calibrated mechanisms as entries of a study's list, with
// their ε, rising, and a comment that says what each is for.
func StudyEntries(to io.Writer, rows []CalibratedMechanism) error {
	for len(rows) > 0 {
		given := rows[0].given
		entry := studyEntry{Name: given.Mechanism, Variant: given.Variant, Parameters: given.Parameters}
		if given.Outside != nil {
			entry.Outside = *given.Outside
		}
		var comments []string
		for first := rows[0].instance(); len(rows) > 0 && rows[0].instance() == first; rows = rows[1:] {
			r := rows[0]
			if !r.Epsilon.Known() {
				comments = append(comments, " "+r.Reason)
				continue
			}
			entry.Epsilons = append(entry.Epsilons, r.Epsilon.Float())
			comments = append(comments, fmt.Sprintf(" %s: %.3g at epsilon = %g", r.Target, r.Achieved.Float(),
				r.Epsilon.Float()))
		}
		slices.Sort(entry.Epsilons)
		if entry.Epsilons = slices.Compact(entry.Epsilons); len(entry.Epsilons) == 0 {
			fmt.Fprintf(to, "  #%s\n", strings.Join(comments, "\n  #"))
			continue
		}
		text, err := yaml.MarshalWithOptions([]studyEntry{entry}, yaml.IndentSequence(true),
			yaml.WithComment(yaml.CommentMap{"$[0]": {yaml.HeadComment(comments...)}}))
		if err != nil {
			return err
		}
		if _, err := to.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func (r CalibratedMechanism) instance() results.Place {
	return results.Place{Mechanism: r.Mechanism, Variant: r.Variant, Parameters: r.Parameters}
}
