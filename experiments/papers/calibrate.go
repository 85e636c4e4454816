package papers

import (
	"context"
	"fmt"

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
	Target     measure.Target
	Vocabulary int // the first so many words of the embedding, 0 for all
	Words      int // drawn from the vocabulary
	Runs       int
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
	Exact      bool          `csv:"exact"`
	Guarantee  string        `csv:"guarantee_metric"`
	Reason     string        `csv:"reason"`
}

// Calibrate calibrates mechanisms, in their default variants, to one target,
// and passes on each row as soon as it is found.
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
	space, err := l.Words(ctx, q.Embedding, q.Embedding.Dimensions[0])
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
		env, err := l.Environment(space, nil, d.Needs, seed)
		if err != nil {
			return err
		}
		row := CalibratedMechanism{
			Mechanism: name, Variant: string(settings.Variant), Parameters: settings.Parameters.String(),
			Target: fmt.Sprintf("%s=%v", q.Target.Quantity, q.Target.Value), Epsilon: results.Missing,
			Achieved: results.Missing,
		}
		c, err := measure.Calibrate(ctx, env, settings,
			measure.CalibrationOptions{Target: q.Target, Words: words, Runs: q.Runs, Seed: seed.Derive(name)})
		if err := ctx.Err(); err != nil {
			return err
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
			row.Guarantee, row.Reason = m.Guarantee().Metric, m.Guarantee().Reason
		}
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}
