package experiments

import (
	"context"
	"errors"
	"fmt"
	"math"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/experiments/measure"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
	"mldpbench/stream"
)

// TextTarget is a level of E_M on the words of a file, guessed by who knows how often each
// occurs in it.
type TextTarget struct {
	results.Levels
	Calibrated
	counts []int // of the words of the space, as the file has them
}

// ParseTextTarget reads "em=0.5"; the file is named, or "-".
func ParseTextTarget(text, file string) (*TextTarget, error) {
	t, err := ParseTarget(text)
	if err == nil && (t.Quantity != "em" || len(t.At) > 1) {
		err = check.Wrong("target = %q: must be one level of em, as em=0.5", text)
	}
	if err == nil && file == "-" {
		err = check.Wrong("--target reads the text twice: name the file")
	}
	return &TextTarget{Levels: t}, err
}

// tokens are the words that stand for a text; a search ends so far above its level at most,
// if nothing else is said.
const tokens, Tolerance = 2000, 0.02

// Find finds the ε of a mechanism for a file, without the words that are kept.
func (t *TextTarget) Find(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings, file table.Options,
	kept []string, seed stream.Seed, workers int) (err error) {
	if t.counts, err = privatize.Count(ctx, file, env.Space.Vocabulary, kept); err != nil {
		return err
	}
	q := Calibration{Levels: t.Levels, Drawn: tokens, Mechanisms: []mechanisms.Settings{s}, Calibrator: measure.Calibrator{
		Env: env, Counts: t.counts, Tolerance: Tolerance, Seed: seed, Threads: workers}}
	err = Calibrate(ctx, q, func(rows []Calibrated, _ string) error { t.Calibrated = rows[0]; return nil })
	if err == nil && !t.Epsilon.Known() {
		err = errors.New(t.Reason)
	}
	return err
}

// Found says how many words are found.
func (t *TextTarget) Found() string {
	found := func(wrong results.Optional) float64 { return 100 * (1 - wrong.Float()) }
	return fmt.Sprintf("who knows how often each word occurs in this file, and guesses each alone, still finds %.3g%% "+
		"(%.3g to %.3g) of its %d words that are replaced", found(t.Achieved), found(t.High), found(t.Low),
		list.Sum(t.counts, func(n int) int { return n }))
}

// NearWords says what a guarantee means between a word of the target's text, or without a
// target of the space, and the word nearest to it; of a document, if all its words change so.
func (t *TextTarget) NearWords(g mechanisms.Guarantee, space *embeddings.Space, document bool) string {
	of, seed, unit := "the vectors", stream.FromUint64(1), "between the median word of %s and the word nearest to it"
	words := measure.SampleWords(space, tokens, seed)
	if t != nil {
		of, words = "this file", measure.SampleText(t.counts, tokens, seed)
	}
	if document {
		unit = "between texts that differ in every word, as the median word of %s from the word nearest to it"
	}
	const little, something = 10, 3 // factors
	says, x := fmt.Sprintf(unit, of), g.Epsilon*mechanisms.Near(g, space, words)
	switch {
	case math.IsInf(x, 1):
		return says + ": nothing"
	case x > math.Log(little):
		return fmt.Sprintf("%s, odds change by a factor of %s at most, which is next to nothing; at epsilon = %.2g it is %d",
			says, mechanisms.Factor(x), g.Epsilon*math.Log(something)/x, something)
	}
	return fmt.Sprintf("%s, odds change by a factor of %s at most", says, mechanisms.Factor(x))
}
