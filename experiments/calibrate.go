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
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/external"
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
	Tolerance  float64 // of em
	Seed       uint64
	Log        io.Writer // for warnings; nil for none
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

	given mechanisms.Settings // as requested
}

// Calibrate calibrates mechanisms to each target, and passes on each row as soon
// as it is found. The targets of one mechanism share what was evaluated. A
// command is asked word by word; where it fails, so does Calibrate.
func Calibrate(ctx context.Context, q CalibrateRequest, each func(CalibratedMechanism) error) error {
	if q.Mechanisms == nil {
		for _, d := range mechanisms.Definitions() {
			if d.New != nil {
				q.Mechanisms = append(q.Mechanisms, mechanisms.Settings{Mechanism: d.Name})
			}
		}
	}
	l, seed := lab.New(q.Data), paperSeed("calibrate", q.Seed)
	space, corpus, err := q.open(ctx, l, seed)
	if err != nil {
		return err
	}
	words := measure.SampleWords(space, q.Words, seed.Derive("words"))
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
		var command command
		env.Outside = command.opener(ctx, space)
		for _, o.Target = range q.Targets {
			var row CalibratedMechanism
			if row, err = calibrated(ctx, env, settings, &o); err == nil {
				row.given = given
				err = each(row)
			}
			if err != nil {
				break
			}
		}
		if err := errors.Join(err, command.close()); err != nil {
			return err
		}
	}
	return nil
}

// open opens the words that may be outputs, and the corpus where one is given.
func (q CalibrateRequest) open(ctx context.Context, l *lab.Lab, seed stream.Seed) (space *embeddings.Space,
	corpus *lab.Corpus, err error) {
	if err := errors.Join(q.Embedding.Check(), check.AtLeast("vocabulary", q.Vocabulary, 0)); err != nil {
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

// command is a mechanism from outside that was started; another command line,
// as with {epsilon} in it, ends it.
type command struct {
	line    []string
	started *external.Command
}

func (c *command) opener(ctx context.Context, space *embeddings.Space) func(mechanisms.Settings) (mechanisms.Mechanism,
	error) {
	return func(s mechanisms.Settings) (mechanisms.Mechanism, error) {
		o := s.Outside.At(s)
		if o.Text != "" {
			return nil, errors.New("text of one ε cannot be calibrated")
		}
		if c.started == nil || !slices.Equal(o.Command, c.line) {
			err := c.close()
			if err == nil {
				c.line = o.Command
				c.started, err = external.Open(ctx, o.Command,
					external.Options{Start: o.Wait(), Request: o.Wait(), Files: o.Files, Vectors: space.WriteText})
			}
			if err != nil {
				c.started = nil
				return nil, err
			}
		}
		m, err := c.started.At(s.Epsilon)
		if err != nil {
			return nil, err
		}
		return mechanisms.WordByWord(ctx, m, space)
	}
}

func (c *command) close() error {
	if c.started == nil {
		return nil
	}
	err := c.started.Close()
	c.started = nil
	return err
}

// studyEntry is a study.MechanismSpec with its ε on one line.
type studyEntry struct {
	Name               string `yaml:"name"`
	mechanisms.Outside `yaml:",inline"`
	Variant            mechanisms.Variant    `yaml:"variant,omitempty"`
	Parameters         mechanisms.Parameters `yaml:"parameters,flow,omitempty"`
	Epsilons           []float64             `yaml:"epsilons,flow"`
}

// StudyFragment writes calibrated mechanisms as entries of a study's list, with
// comments that say what each ε is for.
type StudyFragment struct {
	To   io.Writer
	rows []CalibratedMechanism
}

// Take gathers the rows of a mechanism and writes those of the one before.
func (f *StudyFragment) Take(row CalibratedMechanism) error {
	if len(f.rows) > 0 && f.rows[0].instance() != row.instance() {
		if err := f.Flush(); err != nil {
			return err
		}
	}
	f.rows = append(f.rows, row)
	return nil
}

func (r CalibratedMechanism) instance() results.Instance {
	return results.Instance{Mechanism: r.Mechanism, Variant: r.Variant, Parameters: r.Parameters}
}

// Flush writes what is left: the ε of a mechanism, rising, with a comment for
// each target.
func (f *StudyFragment) Flush() error {
	if len(f.rows) == 0 {
		return nil
	}
	given := f.rows[0].given
	entry := studyEntry{Name: given.Mechanism, Variant: given.Variant, Parameters: given.Parameters}
	if given.Outside != nil {
		entry.Outside = *given.Outside
	}
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

// TuneRequest selects the data on which Tune searches.
type TuneRequest struct {
	Data       string
	Dataset    study.DatasetSpec // of single words
	Embedding  study.EmbeddingSpec
	Runs       int    // per word; even
	Prior      string // "uniform" or "empirical"
	Seed       uint64
	MaxLoss    float64
	T          []float64
	MaxEpsilon float64
	Each       func(measure.TuneStep) error // as in measure.TuneOptions
	Log        io.Writer                    // for warnings; nil for none
}

// Tune runs measure.Tune on a word-level data set of the data folder.
func Tune(ctx context.Context, q TuneRequest) ([]measure.TuneStep, error) {
	o := measure.TuneOptions{Seed: paperSeed("tune", q.Seed), MaxLoss: q.MaxLoss, T: q.T, MaxEpsilon: q.MaxEpsilon,
		Each: q.Each}
	adversary := measure.InferenceRuns{Runs: q.Runs, Prior: q.Prior}
	t, err := q.Dataset.Traits()
	if err == nil && !t.WordLevel {
		err = fmt.Errorf("data set %s: has texts; the loss is that of words whose polarity flips", q.Dataset.Name)
	}
	for _, err := range []error{o.Check(), adversary.Check(), q.Dataset.Check(), err, q.Embedding.Check()} {
		if err != nil {
			return nil, err
		}
	}
	l, sample := lab.New(q.Data), lab.Sample{Dataset: q.Dataset, Seed: o.Seed.Derive("dataset")}
	corpus, err := l.Corpus(ctx, sample)
	if err != nil {
		return nil, err
	}
	space, err := l.Space(ctx, sample, q.Embedding, q.Embedding.Dimensions[0], false)
	if err != nil {
		return nil, err
	}
	lab.WarnOneWord(q.Log, space.Space)
	if o.Adversary, _, err = adversary.Adversary(corpus, space, o.Seed); err != nil {
		return nil, err
	}
	o.Space = space.Space
	return measure.Tune(ctx, o)
}

// paperSeed is the root of the randomness of a search.
func paperSeed(search string, seed uint64) stream.Seed {
	return stream.FromUint64(seed).Derive("papers", search)
}
