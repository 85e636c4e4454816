package attacks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/mechanisms"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// run returns the rows of one unit. The first of a job measures all of them.
func (at released) run(ctx context.Context, panel string, panels map[string]string, job *engine.Job) (engine.Output,
	error) {
	rows, done := job.Shared.(map[string][]results.Record)
	if !done {
		var wanted []string
		for _, id := range job.IDs {
			wanted = append(wanted, panels[id])
		}
		start := time.Now()
		var err error
		if rows, err = at.measure(ctx, wanted, job.Threads); err != nil {
			return engine.Output{}, err
		}
		// The first row gets the whole time, because attackers share most of
		// it.
		first := rows[panel]
		first[0].TotalSeconds = results.Float(time.Since(start).Seconds())
		first[0].PeakMemoryMiB = results.Float(engine.PeakMemoryMiB())
		job.Shared = rows
	}
	return engine.Output{Rows: rows[panel]}, nil
}

// measure attacks a release and measures its utility.
func (at released) measure(ctx context.Context, panels []string, threads int) (map[string][]results.Record, error) {
	c, out := at.scene, map[string][]results.Record{}
	dimension := c.Embedding.Dimensions[0]
	corpus, err := at.lab.Corpus(ctx, at.sample())
	if err != nil {
		return nil, err
	}
	space, err := at.lab.Space(ctx, at.sample(), c.Embedding, dimension, at.definition.Needs.Thesaurus)
	if err != nil {
		return nil, err
	}
	describe := func(r *results.Record) {
		r.Generated, r.Vocabulary = corpus.Generated, space.Len()
		r.DatasetFingerprint, r.EmbeddingFingerprint = corpus.Fingerprint, space.Fingerprint()
	}
	env, err := at.lab.Environment(space.Space, corpus, at.definition.Needs, at.seed().Derive("mechanism"))
	if err != nil {
		return nil, err
	}
	env.Outside = at.lab.Outside(ctx, at.sample(), space.Space, at.repetition)
	undefined := func(err error) (map[string][]results.Record, error) {
		var none *mechanisms.UndefinedError
		if !errors.As(err, &none) {
			return nil, err
		}
		for _, panel := range panels {
			r := at.row(panel)
			describe(&r)
			r.Status, r.Reason = results.StatusUndefined, err.Error()
			out[panel] = []results.Record{r}
		}
		return out, nil
	}
	m, err := mechanisms.New(env, at.settings)
	if err != nil {
		return undefined(err)
	}
	t, err := at.texts(corpus, space, m)
	if err != nil {
		return nil, err
	}
	s, err := at.situation(ctx, corpus, space, t, m, threads)
	if err != nil {
		return undefined(err)
	}
	attackers := slices.DeleteFunc(slices.Clone(panels), func(p string) bool { return p == Utility || p == Language })
	outcomes, err := attack.RunAll(ctx, attackers, s)
	if err != nil {
		return nil, err
	}
	start := func(panel string) results.Record {
		r := at.row(panel)
		describe(&r)
		r.Unrepeatable = !mechanisms.Repeatable(m)
		return r.Promised(m.Guarantee())
	}
	for _, panel := range attackers {
		d, err := attack.Find(panel)
		if err != nil {
			return nil, err
		}
		for _, o := range outcomes {
			if slices.ContainsFunc(d.Columns, func(c attack.Column) bool { return c.Name == o.Column }) {
				out[panel] = append(out[panel], measure.Attacked(start(panel), o))
			}
		}
	}
	if slices.Contains(panels, Utility) {
		if out[Utility], err = at.utility(ctx, start(Utility), t, &s); err != nil {
			return nil, fmt.Errorf("utility: %w", err)
		}
	}
	if slices.Contains(panels, Language) {
		if out[Language], err = at.language(ctx, start(Language), t, &s); err != nil {
			return nil, fmt.Errorf("language: %w", err)
		}
	}
	return out, nil
}

// texts holds the documents of a scene as ids, for mechanisms with the same
// vocabulary.
type texts struct {
	lexicon   *attack.Lexicon
	documents [3][]attack.Document // train without the shadow, validation, test
	labels    [3][]int             // of the utility
	classes   []string             // their names
	shadow    [][]int32
	embedding models.Embedding
	memo      *attack.Memo
}

func (at released) texts(corpus *measure.Corpus, space *measure.Space, m mechanisms.Mechanism) (*texts, error) {
	make_ := func() (*texts, error) { return at.read(corpus, space.Space, m.Vocabulary()) }
	if m.Vocabulary() != space.Vocabulary {
		return make_()
	}
	return lab.Once(at.lab, engine.MakeID(Protocol, at.sample().Dataset, at.scene.Shadow, at.scene.Utility, at.options,
		at.dataSeed(),
		space.Fingerprint()), make_)
}

// read assigns ids to the words and separates the shadow, which is drawn once
// for all repetitions.
func (at released) read(corpus *measure.Corpus, space *embeddings.Space, v *embeddings.Vocabulary) (*texts, error) {
	t := &texts{lexicon: attack.NewLexicon(v), classes: corpus.Classes, memo: &attack.Memo{}}
	shadow := at.scene.Shadow
	if n := len(corpus.Train); shadow >= n {
		return nil, fmt.Errorf("shadow = %d: must be < %d, the documents of the training split of %s", shadow, n,
			corpus.Name)
	}
	aside := map[int]bool{}
	for _, i := range at.root().Derive("shadow", corpus.Name).Rand().Perm(len(corpus.Train))[:shadow] {
		aside[i] = true
	}
	for i, split := range corpus.Splits() {
		for j, d := range split.Documents {
			ids := t.lexicon.IDs(d.Tokens)
			if i == 0 && aside[j] {
				t.shadow = append(t.shadow, ids)
				continue
			}
			t.documents[i] = append(t.documents[i], attack.Document{Words: ids, Private: d.Private, User: d.User})
			t.labels[i] = append(t.labels[i], d.Label)
		}
	}
	t.embedding = t.lexicon.Embedding(space)
	return t, nil
}

// situation returns the target of the attack.
func (at released) situation(ctx context.Context, corpus *measure.Corpus, space *measure.Space, t *texts,
	m mechanisms.Mechanism,
	threads int) (attack.Situation, error) {
	s := attack.Situation{
		Train: t.documents[0], Validation: t.documents[1], Test: t.documents[2], Privates: len(corpus.Privates),
		Shadow: t.shadow, Embedding: t.embedding, Options: at.options, Seed: at.seed(), DataSeed: at.dataSeed(),
		Workers: threads, Memo: t.memo, Releases: &attack.Memo{},
	}
	attack.Attacked(&s, m, space.Space, at.study.Policy, t.lexicon, true)
	if at.settings.Outside != nil { // it may return new words
		for _, split := range []string{attack.Train, attack.Validation, attack.Test} {
			if _, err := s.Released(ctx, split); err != nil {
				return s, err
			}
		}
		t.embedding = t.lexicon.Embedding(space.Space)
		s.Embedding = t.embedding
	}
	if at.study.encodes(at.scene) {
		encoder, err := at.lab.Encoder(ctx, at.study.Encoder, corpus, space)
		if err != nil {
			return s, err
		}
		s.Encode = func(ctx context.Context, documents [][]int32) ([][]float32, error) {
			sentences := make([]string, len(documents))
			for i, d := range documents {
				sentences[i] = strings.Join(t.lexicon.Tokens(d), " ")
			}
			return encoder.Encode(ctx, sentences)
		}
	}
	return s, nil
}
