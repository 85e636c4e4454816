package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"mldpbench/datasets/table"
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

// Calibration says which mechanisms are brought to which levels of privacy, and
// on which words.
type Calibration struct {
	Target     string // a quantity of measure.Calibrator and its levels: "em=0.1,0.5"
	Data       string // folder
	Embedding  study.EmbeddingSpec
	Vocabulary int    // the first so many words of the embedding, 0 for all
	Restrict   string // keep only words of this data set, which is the corpus of mechanisms that need one; "" for none
	// Text, if it has a Name, is a file whose words are drawn, and whose frequencies the adversary of em knows.
	Text table.Options
	// Mechanisms are settings without ε, also of commands; nil: all built in that
	// return words, in their default variants.
	Mechanisms []mechanisms.Settings
	Words      int // drawn from the vocabulary
	Runs       int // of each
	Tolerance  float64
	Seed       uint64
	Log        io.Writer // for warnings; nil for none
}

// Calibrated is the answer for one mechanism and level; where that is out of
// reach, Epsilon is missing and Reason says why.
type Calibrated struct {
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
	Reason     string           `csv:"reason"`
}

// parseTarget reads the target of a Calibration.
func parseTarget(target string) (quantity string, levels []float64, err error) {
	quantity, list, _ := strings.Cut(target, "=")
	err = check.OneOf("target", quantity, "nw", "em")
	for _, text := range strings.Split(list, ",") {
		v, wrong := strconv.ParseFloat(text, 64)
		if wrong != nil {
			wrong = check.Wrong("target = %q: must be as em=0.1,0.5", target)
		}
		levels, err = append(levels, v), cmp.Or(err, wrong, check.Inside("target "+quantity, v, 0, 1))
	}
	return quantity, levels, err
}

// Calibrate finds the ε of each mechanism at each level, and passes on its rows as
// soon as they are found, with the entry of a study that they make. A level that is out
// of reach is an answer, and so is a built-in mechanism that cannot be built here. A
// command is asked word by word; where it fails, so does Calibrate.
func Calibrate(ctx context.Context, q Calibration, each func(rows []Calibrated, entry string) error) (err error) {
	quantity, levels, err := parseTarget(q.Target)
	if err = cmp.Or(err, check.Within("tolerance", q.Tolerance, 0, 1), check.AtLeast("runs", q.Runs, 2)); err != nil {
		return err
	}
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
	words, counts := measure.SampleWords(space, q.Words, seed.Derive("words")), []int(nil)
	if q.Text.Name != "" {
		if counts, err = countWords(ctx, q.Text, space.Vocabulary, nil); err != nil {
			return err
		}
		words = measure.SampleText(counts, q.Words, seed.Derive("words"))
	}
	bar := progress.Start(ctx, "targets", len(q.Mechanisms)*len(levels))
	defer bar.Close()
	for _, given := range q.Mechanisms {
		given.Epsilon = 1 // checked without it
		settings, err := mechanisms.Complete(given)
		if err != nil {
			return err
		}
		d, _ := settings.Definition() // complete
		c := measure.Calibrator{Settings: settings, Words: words, Counts: counts, Runs: q.Runs, Tolerance: q.Tolerance,
			Seed: seed.Derive(settings.Mechanism), Threads: runtime.GOMAXPROCS(0)}
		if c.Env, err = l.Environment(space, corpus, d.Needs, seed); err != nil {
			return err
		}
		c.Env.Outside = l.WordByWord(ctx, space)
		var rows []Calibrated
		for _, level := range levels {
			row, err := calibrated(ctx, &c, quantity, level)
			if err != nil {
				return err
			}
			rows = append(rows, row)
			bar.Add(1, settings.Mechanism)
		}
		entry, err := studyEntry(given, rows)
		if err = cmp.Or(err, each(rows, entry)); err != nil {
			return err
		}
	}
	return nil
}

// open opens the words that may be outputs, and the corpus where one is given.
func (q Calibration) open(ctx context.Context, l *lab.Lab, seed stream.Seed) (space *embeddings.Space,
	corpus *lab.Corpus, err error) {
	if err := q.Embedding.Check(q.Data); err != nil {
		return nil, nil, err
	}
	var keep func(string) bool
	if q.Restrict != "" {
		corpus, err = l.Corpus(ctx, lab.Sample{Dataset: study.DatasetSpec{Name: q.Restrict}, Seed: seed.Derive("dataset")})
		if err != nil {
			return nil, nil, err
		}
		keep = corpus.Has
	}
	space, err = l.Words(ctx, q.Embedding, q.Embedding.Dimensions[0], embeddings.First(q.Vocabulary, keep))
	if err == nil {
		lab.WarnOneWord(q.Log, space)
	}
	return space, corpus, err
}

// calibrated is the row of one mechanism and level.
func calibrated(ctx context.Context, c *measure.Calibrator, quantity string, level float64) (Calibrated, error) {
	s := c.Settings
	row := Calibrated{Mechanism: s.Mechanism, Variant: string(s.Variant), Parameters: s.Parameters.String(),
		Target: fmt.Sprintf("%s=%v", quantity, level)}
	p, err := c.Find(ctx, quantity, level)
	if err != nil {
		row.Reason = err.Error()
		if far := (*measure.OutOfReach)(nil); ctx.Err() == nil && (s.Outside == nil || errors.As(err, &far)) {
			err = nil
		}
		return row, err
	}
	row.Epsilon, row.Achieved, row.Exact = results.Float(p.Epsilon), results.Float(p.Value), p.Exact
	row.Low, row.High = results.Float(p.Interval.Low), results.Float(p.Interval.High)
	if !p.Exact {
		row.Runs = c.Runs
	}
	return row, nil
}

// studyEntry is a calibrated mechanism in the list of a study, with its ε, rising,
// and comments that say what each is for.
func studyEntry(given mechanisms.Settings, rows []Calibrated) (entry string, err error) {
	m := study.MechanismSpec{Name: given.Mechanism, Variant: given.Variant, Parameters: given.Parameters}
	if given.Outside != nil {
		m.Outside = *given.Outside
	}
	for _, r := range rows {
		if r.Epsilon.Known() {
			m.Epsilons = append(m.Epsilons, r.Epsilon.Float())
			r.Reason = fmt.Sprintf("%s: %.3g at epsilon = %g", r.Target, r.Achieved.Float(), r.Epsilon.Float())
		}
		entry += "  # " + r.Reason + "\n"
	}
	slices.Sort(m.Epsilons)
	if m.Epsilons = slices.Compact(m.Epsilons); len(m.Epsilons) > 0 {
		text, wrong := yaml.MarshalWithOptions(m, yaml.Flow(true))
		entry, err = entry+"  - "+string(text), wrong
	}
	return entry, err
}
