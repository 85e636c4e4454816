package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"mldpbench/results/quantity"

	"github.com/goccy/go-yaml"

	"mldpbench/datasets/table"
	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/experiments/study"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
	"mldpbench/internal/progress"
	"mldpbench/mechanisms"
	"mldpbench/mechanisms/privatize"
	"mldpbench/results"
	"mldpbench/stream"
)

// Calibration says which mechanisms are brought to which levels of privacy, and on which words.
type Calibration struct {
	Call
	Vectors
	Target     string        // such as nw=0.1,0.5 or em=0.5
	Text       table.Options // of a file whose words are hidden, and guessed by who knows how often each occurs
	Mechanisms []string      // as parseInstance reads them; none, without Program: all that return words
	Program    string        // a command that is a mechanism; "" for none
	Drawn      int           // words, for nw
	Runs       int           // of each word, where there is no closed form; 0: 20, of a text by its size
	Tolerance  float64       // how far above a target a value may be that ends its search
	Seed       uint64
	Threads    int
}

// Calibrate finds the ε of each mechanism at each level. Its parts are the entries of a study that have these, its
// record "mechanisms" has each Calibrated.
func Calibrate(ctx context.Context, c Calibration) (*Outcome, error) {
	o := c.answer()
	levels, err := parseTarget(c.Target)
	if err != nil {
		return nil, err
	}
	if err := c.Text.Check(); err != nil {
		return nil, err
	}
	if levels.Quantity == measure.Game && c.Text.Name == "" {
		return nil, check.Wrong("target = %q: a game is played with texts: name their file with --text", c.Target)
	}
	settings, err := c.settings()
	if err != nil {
		return nil, Usage(err)
	}
	seed := stream.FromUint64(c.Seed).Derive("papers", "calibrate")
	env, err := c.environmentFor(ctx, o.call, seed, settings)
	if err != nil {
		return nil, err
	}
	q := calibrating{
		Levels:     levels,
		Calibrator: measure.Calibrator{Env: env, Seed: seed, Runs: c.Runs, Tolerance: c.Tolerance, Threads: c.Threads},
		drawn:      c.Drawn,
		mechanisms: settings,
	}
	if c.Text.Name != "" {
		err = q.read(ctx, []table.Options{c.Text}, nil)
		if err != nil {
			return nil, err
		}
	}
	all := []Calibrated{}
	err = q.run(ctx, func(rows []Calibrated, entry string) error {
		all = append(all, rows...)
		o.say("%s", strings.TrimSuffix(entry, "\n"))
		return nil
	})
	o.Records["mechanisms"] = all
	return o, err
}

// settings are those of the mechanisms, without ε.
func (c Calibration) settings() (all []mechanisms.Settings, err error) {
	if c.Program != "" {
		s, err := commandSettings(c.Program)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, name := range c.Mechanisms {
		s, err := parseInstance(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		all = returningWords()
	}
	return all, nil
}

// calibrating is a calibration in progress.
type calibrating struct {
	quantity.Levels // of "nw", "em" or "game", as measure.Calibrator.Find takes them
	// Calibrator is that of each mechanism, without its settings. Counts are those of
	// privatize.Count: of these Words are drawn, else of the space. Runs may be 0: 20, of a text
	// about as many as E_M is learned from.
	measure.Calibrator
	drawn      int                   // words, for nw
	mechanisms []mechanisms.Settings // without ε, also of commands
}

// read reads the words of files, and the texts of a game.
func (q *calibrating) read(ctx context.Context, files []table.Options, kept []string) (err error) {
	v := q.Env.Space.Vocabulary
	q.Counts, err = privatize.Count(ctx, files, v, kept)
	if err != nil || q.Quantity != measure.Game {
		return err
	}
	q.Texts, err = privatize.DrawTexts(ctx, files, v, kept, measure.TextsOfGame, q.Seed.Derive("texts").Rand())
	return err
}

// drawsOfText are about as many outputs as E_M of a text is learned from.
const drawsOfText = 60_000

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
	Adversary  string           `csv:"adversary"` // of a game
	Reason     string           `csv:"reason"`
}

// parseTarget reads "em=0.1,0.5", levels of N_w as a share, of E_M or of the game.
func parseTarget(text string) (quantity.Levels, error) {
	return quantity.ParseLevels("target", text, func(name string) (above, below float64, err error) {
		if name == measure.Game {
			above = 0.5
		}
		return above, 1, check.OneOf("target", name, "nw", "em", measure.Game)
	})
}

// run finds the ε of each mechanism at each level, and passes on its rows as
// soon as they are found, with the entry of a study that they make. A level that is out
// of reach is an answer, and so is a built-in mechanism that cannot be built here. A
// command is asked word by word; where it fails, so does run.
func (q calibrating) run(ctx context.Context, each func(rows []Calibrated, entry string) error) (err error) {
	q.Words = measure.SampleWords(q.Env.Space, q.drawn, q.Seed.Derive("words"))
	if q.Counts != nil {
		q.Words = measure.SampleText(q.Counts, q.drawn, q.Seed.Derive("words"))
		words := list.Count(q.Counts, func(n int) bool { return n > 0 })
		q.Runs = cmp.Or(q.Runs, max(4, min(100, drawsOfText/words)))
	}
	q.Runs = cmp.Or(q.Runs, 20)
	if err := check.Within("tolerance", q.Tolerance, 0, 1); err != nil {
		return err
	}
	if err := check.AtLeast("runs", q.Runs, 2); err != nil {
		return err
	}
	l := lab.New("") // of commands
	defer func() { err = errors.Join(err, l.Close()) }()
	q.Env.Outside = l.WordByWord(ctx, q.Env.Space)
	bar := progress.Start(ctx, "targets", len(q.mechanisms)*len(q.At))
	defer bar.Close()
	for _, given := range q.mechanisms {
		given.Epsilon = 1 // checked without it
		c := q.Calibrator
		if c.Settings, err = mechanisms.Complete(given); err != nil {
			return err
		}
		if err := checkTakesWords(c.Settings); err != nil {
			return err
		}
		c.Seed = q.Seed.Derive(given.Mechanism)
		var rows []Calibrated
		for _, level := range q.At {
			row, err := calibrated(ctx, &c, q.Quantity, level)
			if err != nil {
				return err
			}
			rows = append(rows, row)
			bar.Add(1, given.Mechanism)
		}
		entry, err := studyEntry(given, rows)
		if err != nil {
			return err
		}
		if err := each(rows, entry); err != nil {
			return err
		}
	}
	return nil
}

// checkTakesWords returns an error for a mechanism that rewrites whole texts.
func checkTakesWords(s mechanisms.Settings) error {
	d, err := s.Definition()
	if err != nil {
		return err
	}
	return d.CheckTakesWords()
}

// returningWords are the built-in mechanisms that return words, in their default variants.
func returningWords() (settings []mechanisms.Settings) {
	for _, d := range mechanisms.Definitions() {
		if d.New != nil && !d.Documents {
			settings = append(settings, mechanisms.Settings{Mechanism: d.Name})
		}
	}
	return settings
}

// calibrated is the row of one mechanism and level.
func calibrated(ctx context.Context, c *measure.Calibrator, quantity string, level float64) (Calibrated, error) {
	s := c.Settings
	row := Calibrated{Mechanism: s.Mechanism, Variant: string(s.Variant), Parameters: s.Parameters.String(),
		Target: fmt.Sprintf("%s=%v", quantity, level)}
	p, err := c.Find(ctx, quantity, level)
	if err != nil {
		row.Reason = err.Error()
		var unreachable *measure.OutOfReach
		if ctx.Err() == nil && (s.Outside == nil || errors.As(err, &unreachable)) {
			err = nil
		}
		return row, err
	}
	row.Epsilon = results.Float(p.Epsilon)
	row.Achieved = results.Float(p.Value)
	row.Exact = p.Exact
	row.Low = results.Float(p.Interval.Low)
	row.High = results.Float(p.Interval.High)
	row.Adversary = p.Adversary
	if !p.Exact && p.Adversary == "" {
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
	m.Epsilons = distinct(m.Epsilons...)
	if len(m.Epsilons) == 0 {
		return entry, nil
	}
	text, err := yaml.MarshalWithOptions(m, yaml.Flow(true))
	return entry + "  - " + string(text), err
}

// TextTarget is a level on a file: of E_M on its words, guessed by who knows how often each
// occurs in it, or of the game between its texts.
type TextTarget struct {
	quantity.Levels
	Calibrated
	counts []int // of the words of the space, as the file has them
}

// parseTextTarget reads "em=0.5" or "game=0.6"; the file is named, or "-".
func parseTextTarget(text, file string) (*TextTarget, error) {
	t, err := parseTarget(text)
	if err == nil && (t.Quantity == "nw" || len(t.At) > 1) {
		err = check.Wrong("target = %q: must be one level of em or game, as em=0.5", text)
	}
	if err == nil && file == "-" {
		err = check.Wrong("--target reads the text twice: name the file")
	}
	return &TextTarget{Levels: t}, err
}

// tokens are the words that stand for a text.
const tokens = 2000

// Tolerance is how far above its level a search ends at most, if nothing else is said.
const Tolerance = 0.02

// Find finds the ε of the calibrator's settings for files, without the words that are kept. Its environment, seed and
// threads are used.
func (t *TextTarget) Find(ctx context.Context, c measure.Calibrator, files []table.Options, kept []string) error {
	c.Tolerance = Tolerance
	q := calibrating{Levels: t.Levels, drawn: tokens, mechanisms: []mechanisms.Settings{c.Settings}, Calibrator: c}
	if err := q.read(ctx, files, kept); err != nil {
		return err
	}
	t.counts = q.Counts
	err := q.run(ctx, func(rows []Calibrated, _ string) error {
		t.Calibrated = rows[0]
		return nil
	})
	if err == nil && !t.Epsilon.Known() {
		return errors.New(t.Reason)
	}
	return err
}

// Found says how many words are found, or how often a text is.
func (t *TextTarget) Found() string {
	if t.Quantity == measure.Game {
		return fmt.Sprintf("an adversary that sees the replaced words of a text of this file, and two originals, says "+
			"which was released in %.3g%% (%.3g to %.3g) of rounds, by %s; without seeing it in 50%%",
			100*t.Achieved.Float(), 100*t.Low.Float(), 100*t.High.Float(), t.Adversary)
	}
	found := func(wrong results.Optional) float64 { return 100 * (1 - wrong.Float()) }
	words := list.Sum(t.counts, func(n int) int { return n })
	return fmt.Sprintf("an adversary with the word-frequency prior of this file, who guesses each word alone, "+
		"still recovers %.3g%% (%.3g to %.3g) of its %d words that are replaced",
		found(t.Achieved), found(t.High), found(t.Low), words)
}

// NearWords says what a guarantee means between a word of the target's text, or without a
// target of the space, and the word nearest to it.
func (t *TextTarget) NearWords(g mechanisms.Guarantee, space *embeddings.Space) string {
	return "between the median word of " + t.source() + " and the word nearest to it" + t.nearOdds(g, space)
}

// NearTexts says what it means between two texts of which each word is changed as by NearWords.
func (t *TextTarget) NearTexts(g mechanisms.Guarantee, space *embeddings.Space) string {
	return "between texts that differ in every word, as the median word of " + t.source() +
		" from the word nearest to it" + t.nearOdds(g, space)
}

// source says where the words of a target come from.
func (t *TextTarget) source() string {
	if t == nil {
		return "the vectors"
	}
	return "this file"
}

// nearOdds says by how much a guarantee lets the odds change between the median word and the word nearest to it.
func (t *TextTarget) nearOdds(g mechanisms.Guarantee, space *embeddings.Space) string {
	seed := stream.FromUint64(1)
	var words []mechanisms.WordID
	var others []nearest.Neighbor
	if t != nil {
		words = measure.SampleText(t.counts, tokens, seed)
		others = nearest.Of(space).Others(words) // kept nowhere: they are words of a private text
	} else {
		words = measure.SampleWords(space, tokens, seed)
		others = nearest.Of(space).OthersKept(words)
	}
	const little, something = 10, 3 // factors
	loss := g.Epsilon * mechanisms.Near(g, words, others)
	if math.IsInf(loss, 1) {
		return ": nothing"
	}
	says := fmt.Sprintf(", odds change by a factor of %s at most", mechanisms.Factor(loss))
	if loss > math.Log(little) {
		epsilon := g.Epsilon * math.Log(something) / loss
		says += fmt.Sprintf(", which is next to nothing; at epsilon = %.2g it is %d", epsilon, something)
	}
	return says
}
