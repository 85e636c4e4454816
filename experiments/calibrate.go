package experiments

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
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

// Target is a measured level of privacy: see measure.Calibrator.
type Target struct {
	Quantity string  // "nw" or "em"
	Value    float64 // in (0, 1)
}

// ParseTargets reads "nw=0.5". A text without a name has that of the text before
// it: "em=0.1", "0.5".
func ParseTargets(texts []string) (out []Target, err error) {
	for _, s := range texts {
		name, text, ok := strings.Cut(s, "=")
		if !ok {
			if len(out) == 0 {
				return nil, fmt.Errorf("target = %q: must look like nw=0.5", s)
			}
			name, text = out[len(out)-1].Quantity, s
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("target = %q: %q is not a number", s, text)
		}
		if err := errors.Join(check.OneOf("target", name, "nw", "em"), check.Inside("target "+name, v, 0, 1)); err != nil {
			return nil, err
		}
		out = append(out, Target{name, v})
	}
	return out, nil
}

// CalibrateRequest selects the mechanisms that Calibrate calibrates, and their
// data.
type CalibrateRequest struct {
	Data      string
	Embedding study.EmbeddingSpec
	// Mechanisms are settings without ε, also of commands; nil: all built in that
	// return words, in their default variants.
	Mechanisms []mechanisms.Settings
	Targets    []Target
	Restrict   *study.DatasetSpec // keep only its words; the corpus of mechanisms that need one; nil for none
	Vocabulary int                // the first so many words of the embedding, 0 for all
	Words      int                // drawn from the vocabulary
	Runs       int
	Tolerance  float64 // how far above a target ends its search
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
}

// Calibrate calibrates mechanisms to each target, and passes on the rows of each
// mechanism as soon as they are found, with the entry of a study that they make. A
// target that is out of reach is an answer, and so is a built-in mechanism that
// cannot be built here. A command is asked word by word; where it fails, so does
// Calibrate.
func Calibrate(ctx context.Context, q CalibrateRequest, each func(rows []CalibratedMechanism, entry string) error) (
	err error) {
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
	bar := progress.Start(ctx, "targets", answers)
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
		c := measure.Calibrator{Settings: settings, Words: words, Runs: q.Runs, Seed: seed.Derive(settings.Mechanism),
			Tolerance: q.Tolerance, Threads: runtime.GOMAXPROCS(0)}
		if c.Env, err = l.Environment(space, corpus, d.Needs, seed); err != nil {
			return err
		}
		c.Env.Outside = l.WordByWord(ctx, space)
		var rows []CalibratedMechanism
		for _, target := range q.Targets {
			row, err := calibrated(ctx, &c, target)
			if err != nil {
				return err
			}
			rows = append(rows, row)
			bar.Add(1, settings.Mechanism)
		}
		entry, err := studyEntry(given, rows)
		if err == nil {
			err = each(rows, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// calibrated is the row of one mechanism and target.
func calibrated(ctx context.Context, c *measure.Calibrator, t Target) (CalibratedMechanism, error) {
	s := c.Settings
	row := CalibratedMechanism{Mechanism: s.Mechanism, Variant: string(s.Variant), Parameters: s.Parameters.String(),
		Target: fmt.Sprintf("%s=%v", t.Quantity, t.Value), Epsilon: results.Missing, Achieved: results.Missing,
		Low: results.Missing, High: results.Missing}
	p, err := c.Find(ctx, t.Quantity, t.Value)
	if ctx.Err() != nil {
		return row, ctx.Err()
	}
	if err != nil {
		row.Reason = err.Error()
		if far := (*measure.OutOfReach)(nil); s.Outside == nil || errors.As(err, &far) {
			err = nil
		}
		return row, err
	}
	s.Epsilon = p.Epsilon
	m, err := mechanisms.New(c.Env, s)
	if err != nil {
		return row, err
	}
	row.Epsilon, row.Achieved, row.Exact = results.Float(p.Epsilon), results.Float(p.Value), p.Exact
	row.Low, row.High = results.Float(p.Interval.Low), results.Float(p.Interval.High)
	if !p.Exact {
		row.Runs = c.Runs
	}
	row.Guarantee, row.Reason = m.Guarantee().Metric, m.Guarantee().Reason
	return row, nil
}

// studyEntry is a calibrated mechanism in the list of a study, with its ε, rising,
// and comments that say what each is for.
func studyEntry(given mechanisms.Settings, rows []CalibratedMechanism) (string, error) {
	entry := struct {
		Name                string `yaml:"name"`
		*mechanisms.Outside `yaml:",inline"`
		Variant             mechanisms.Variant    `yaml:"variant,omitempty"`
		Parameters          mechanisms.Parameters `yaml:"parameters,flow,omitempty"`
		Epsilons            []float64             `yaml:"epsilons,flow"`
	}{Name: given.Mechanism, Outside: given.Outside, Variant: given.Variant, Parameters: given.Parameters}
	var comments []string
	for _, r := range rows {
		if !r.Epsilon.Known() {
			comments = append(comments, " "+r.Reason)
			continue
		}
		entry.Epsilons = append(entry.Epsilons, r.Epsilon.Float())
		comments = append(comments, fmt.Sprintf(" %s: %.3g at epsilon = %g", r.Target, r.Achieved.Float(), r.Epsilon.Float()))
	}
	slices.Sort(entry.Epsilons)
	if entry.Epsilons = slices.Compact(entry.Epsilons); len(entry.Epsilons) == 0 {
		return "  #" + strings.Join(comments, "\n  #") + "\n", nil
	}
	text, err := yaml.MarshalWithOptions([]any{entry}, yaml.IndentSequence(true),
		yaml.WithComment(yaml.CommentMap{"$[0]": {yaml.HeadComment(comments...)}}))
	return string(text), err
}
