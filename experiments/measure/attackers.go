package measure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/memo"
	"mldpbench/models"
	"mldpbench/models/attack"
	_ "mldpbench/models/attack/documents" // registers attackers, as words and labels do
	_ "mldpbench/models/attack/words"
	"mldpbench/models/transformer"
	"mldpbench/results"
	"mldpbench/results/quantity"
	"mldpbench/stream"
)

// attackOptions are the options of an attacker: all that its numbers depend on
// besides the release.
type attackOptions struct {
	Shadow int
	Public *study.DatasetSpec `json:",omitempty"`
	Masked string             `json:",omitempty"` // the language model; "" where it is not used
	Attack attack.Options

	Panel []string `json:",omitempty"` // attackers among whom the strongest is chosen

	// names are all attackers of the scene. They share the text and the rows of
	// its channel, so the first attacks for all of them, with this model.
	names  []string
	masked string
}

// The attackers are measurements, also those that another module registers after this, and the strongest of each panel
// is one that comes first.
func init() {
	Register(strongest())
	attack.Each(func(d attack.Definition) { Register(measurementOf(d)) })
}

// measurementOf is that of an attacker.
func measurementOf(d attack.Definition) Measurement {
	return Measurement{
		Name:       d.Name,
		Version:    max(1, d.Version),
		Quantities: attackQuantities(d.Name, d.Columns),
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			if !slices.Contains(study.AttackerNames(scene.Attackers), d.Name) {
				return nil, false
			}
			return newAttackOptions(scene, d.Name), true
		},
		// Of a mechanism from outside nobody knows the channel: it is attacked by
		// those who read what it released.
		Applies: func(s *Spec, q *Query) bool {
			if !hasText(s, q) {
				return false
			}
			if !s.AsText() {
				return true
			}
			outside := s.Mechanism.Outside
			writes := slices.Contains(d.Needs, attack.NeedsWriter)
			return d.OneRelease && (!writes || outside != nil && outside.Text != "")
		},
		Needs: needsOfAttack,
		Measure: func(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
			return r.attacked(ctx, q, d)
		},
	}
}

// attackQuantities are the columns of an attacker. Better is better kept: a study of
// attacks is read by who releases.
func attackQuantities(attacker string, columns []attack.Column) []quantity.Quantity {
	return list.Map(columns, func(c attack.Column) quantity.Quantity {
		of := quantity.Quantity{
			Name:      c.Name,
			Title:     c.Title,
			Unit:      c.Unit,
			Direction: quantity.Down,
			Digits:    3,
			Threshold: 0.05,
			Table:     attacker,
			Attacker:  attacker,
			Share:     c.Panel != "",
			Mean:      c.Mean,
		}
		if c.FormerName != "" {
			of.FormerNames = []string{c.FormerName}
		}
		if c.HigherIsPrivate {
			of.Direction = quantity.Up
		}
		if c.Unit == "bits" || c.Unit == "tokens" {
			of.Digits = 2
			of.Threshold = 0.5
		}
		if c.Alone {
			of.Table = strongestName
			of.ShowsDetail = true
		}
		return of
	})
}

// newAttackOptions are those for what the named attackers need.
func newAttackOptions(scene *study.Scene, attackers ...string) *attackOptions {
	o := &attackOptions{
		Shadow: scene.Shadow,
		Public: scene.Pool(),
		names:  study.AttackerNames(scene.Attackers),
		masked: scene.Masked,
	}
	o.Attack, _ = attack.Resolve(scene.Options) // checked
	for _, name := range attackers {
		d, _ := attack.Find(name) // it is registered
		if slices.Contains(d.Needs, attack.NeedsModel) {
			o.Masked = o.masked
		}
	}
	return o
}

func needsOfAttack(s *Spec, q *Query) (needs []lab.Resource) {
	o := q.Options.(*attackOptions)
	if o.Masked != "" {
		needs = append(needs, lab.OfModel(maskedModel(o.Masked)))
	}
	if o.Public != nil {
		needs = append(needs, lab.OfPublic(s.pool(o.Public)))
	}
	return needs
}

func maskedModel(name string) lab.ModelRef {
	return lab.ModelRef{
		Key:  "masked",
		Name: name,
		Task: transformer.Score,
	}
}

// pool is the whole pool of public text.
func (s *Spec) pool(d *study.DatasetSpec) lab.Sample {
	return lab.Sample{Dataset: *d, Seed: s.Root().Derive("dataset")}
}

// attackedRow is the row of what an attacker found.
func attackedRow(r results.Row, o attack.Outcome) results.Row {
	m := results.Number(o.Value.Estimate).Within(o.Value.Low, o.Value.High)
	m.Floor = results.Float(o.Floor)
	m.Ceiling = results.Float(o.Ceiling)
	m.Whole = o.Count
	if right := rightDocuments(o.Items); right != nil {
		m.Part = list.Count(right, func(yes bool) bool { return yes })
		m.Whole = len(right)
		m.Items = results.NewOutcomes(right)
	}
	var notes []string
	if o.Draws > 0 {
		notes = append(notes, fmt.Sprintf("channel learned from %d draws a word", o.Draws))
	}
	if o.Note != "" {
		notes = append(notes, o.Note)
	}
	m.Note = strings.Join(notes, "; ")
	return r.Of(o.Column, m)
}

// rightDocuments are the answers on documents of the test split; nil where items
// are words, which are others for each vocabulary, or means over releases.
func rightDocuments(items []attack.Item) []bool {
	var right []bool
	for _, item := range items {
		if item.Position != attack.Whole || item.Right != 0 && item.Right != 1 {
			return nil
		}
		right = append(right, item.Right == 1)
	}
	return right
}

// attacked returns the rows of one attacker.
func (r *Release) attacked(ctx context.Context, q *Query, d attack.Definition) ([]results.Row, error) {
	outcomes, failures, err := r.attacks(ctx, q)
	if err != nil {
		return nil, err
	}
	var rows []results.Row
	failed := failures[d.Name]
	if errors.Is(failed, attack.ErrNoPlace) {
		for _, c := range d.Columns {
			rows = append(rows, unmeasured(r.Row(q), c.Name, failed.Error()))
		}
		return rows, nil
	}
	if failed != nil {
		return nil, failed
	}
	for _, x := range outcomes {
		if slices.ContainsFunc(d.Columns, func(c attack.Column) bool {
			return c.Name == x.Column
		}) {
			rows = append(rows, attackedRow(r.Row(q), x))
		}
	}
	return rows, nil
}

// attacks are the outcomes of all attackers that are still to be measured, or
// among whom the strongest is still to be chosen, and the failures of the others;
// they read the channel once.
func (r *Release) attacks(ctx context.Context, q *Query) ([]attack.Outcome, attack.Failures, error) {
	o := q.Options.(*attackOptions)
	t, err := r.target(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	names := slices.Clone(r.Pending)
	if slices.Contains(r.Pending, strongestName) {
		names = append(names, r.contested(o.names)...)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !slices.Contains(o.names, name)
	})
	slices.Sort(names)
	type found struct {
		outcomes []attack.Outcome
		failures attack.Failures
	}
	all, err := memo.Once(&r.shared, "attacks", func() (f found, err error) {
		f.outcomes, err = attack.RunAll(ctx, slices.Compact(names), t)
		if errors.As(err, &f.failures) {
			err = nil // of some; the others need not attack again
		}
		return f, err
	})
	return all.outcomes, all.failures, err
}

// texts holds the documents of a data set as ids, for mechanisms with the same
// vocabulary.
type texts struct {
	lexicon   *attack.Lexicon
	corpus    *attack.Corpus
	embedding models.Embedding
}

// target is what the mechanism makes of the documents of the release.
func (r *Release) target(ctx context.Context, q *Query) (*attack.Target, error) {
	return memo.Once(&r.shared, "target", func() (*attack.Target, error) {
		return r.attackable(ctx, q.Options.(*attackOptions), q.Threads)
	})
}

// attackable makes the target. Texts are read once for all mechanisms with the vocabulary of
// the space.
func (r *Release) attackable(ctx context.Context, o *attackOptions, threads int) (*attack.Target, error) {
	m, err := r.Words(ctx)
	if err != nil {
		return nil, err
	}
	read := func() (*texts, error) { return r.read(ctx, o, attack.NewLexicon(m.Vocabulary())) }
	if m.Vocabulary() == r.Space.Vocabulary {
		key := engine.MakeID("texts", r.Sample().Dataset, o.Shadow, o.Public, o.Attack, o.masked, r.DataSeed(),
			r.Corpus.Fingerprint, r.Space.Fingerprint())
		readAnew := read
		read = func() (*texts, error) { return memo.Once(&r.Lab.Shared, key, readAnew) }
	}
	texts, err := read()
	if err != nil {
		return nil, err
	}
	t := attack.NewTarget(m, r.Policy, texts.lexicon, r.ReleaseSeed(), threads)
	t.Corpus = texts.corpus
	t.Words.Embedding = texts.embedding
	t.Options = o.Attack
	if o.masked != "" {
		t.Masked = r.maskedWords(o.masked, m.Vocabulary().Words())
	}
	outside := r.Mechanism.Outside
	fromFile := outside != nil && outside.Text != ""
	t.Releases.Single = fromFile || r.Definition().Unchanged
	if fromFile {
		file, err := r.Lab.FromFile(ctx, r.Mechanism, r.Sample(), r.Repetition)
		if err != nil {
			return nil, err
		}
		t.Releases.Texts = func(_ context.Context, texts []string, _ stream.Seed) ([]string, error) {
			return list.Map(texts, func(t string) string { return file.Written[t] }), nil
		}
	}
	if r.AsText() { // it may return new words
		if err := t.ReleaseAll(ctx); err != nil {
			return nil, err
		}
		t.Words.Embedding = texts.lexicon.Embedding(r.Space.Space)
	}
	return t, nil
}

// maskedWords asks the language model of a name, which is opened when it is first asked, for
// words.
func (r *Release) maskedWords(name string, words []string) attack.MaskedWords {
	return func(ctx context.Context, text []string, positions []int) ([][]float32, error) {
		model, err := r.Lab.Model(ctx, maskedModel(name))
		if err != nil {
			return nil, err
		}
		return model.Score(ctx, text, positions, words)
	}
}

// read assigns ids to the words and separates the shadow, which is drawn once
// for all repetitions.
func (r *Release) read(ctx context.Context, o *attackOptions, lexicon *attack.Lexicon) (*texts, error) {
	n := len(r.Corpus.Train)
	if o.Shadow >= n {
		return nil, fmt.Errorf("shadow = %d: must be < %d, the documents of the training split of %s", o.Shadow, n,
			r.Corpus.Name)
	}
	aside := map[int]bool{}
	for _, i := range r.Root().Derive("shadow", r.dataName()).Rand().Perm(n)[:o.Shadow] {
		aside[i] = true
	}
	c := &attack.Corpus{PrivateLabels: len(r.Corpus.Privates), Seed: r.DataSeed()}
	for i, d := range lexicon.Documents(r.Corpus.Train) {
		if aside[i] {
			c.Shadow = append(c.Shadow, d.Words)
		} else {
			c.Train = append(c.Train, d)
		}
	}
	c.Validation = lexicon.Documents(r.Corpus.Validation)
	c.Test = lexicon.Documents(r.Corpus.Test)
	if o.Public != nil {
		public, err := r.Lab.Public(ctx, r.Sample(), r.pool(o.Public))
		if err != nil {
			return nil, fmt.Errorf("public: %w", err)
		}
		documents := lexicon.Documents(public.Documents)
		c.Shadow = append(c.Shadow, attack.WordsOf(documents)...)
		if public.Labelled {
			c.Public = documents
		}
	}
	return &texts{lexicon, c, lexicon.Embedding(r.Space.Space)}, nil
}
