package measure

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"

	"mldpbench/embeddings"
	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/list"
	"mldpbench/internal/params"
	"mldpbench/mechanisms"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

func init() {
	Register(Measurement{
		Name: "accuracy", Version: 1, Model: true, Setting: true, Baseline: true, VersionOf: wordsVersion,
		Columns: columns("accuracy", "validation_accuracy", "auc", "epochs", "train_seconds"),
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			var options any // nil keeps the keys of studies without trainings
			if scene.Trainings > 0 {
				options = trainings(scene.Trainings)
			}
			return options, len(scene.Models) > 0
		},
		// A mechanism that releases vectors, and a data set of single words, are used
		// with linear models only; a projected vector and a plain one have different
		// lengths.
		Applies: func(s *Spec, q *Query) bool {
			d, err := models.Find(q.Model.Name)
			t, _ := s.Dataset.Definition() // checked
			vectors := s.Definition().NewVector != nil
			return err == nil && (!t.WordLevel && !vectors || d.Vectors) && (!vectors || q.Setting == study.Local)
		},
		Needs: func(_ *Spec, q *Query) []lab.Resource {
			if encoder := q.Model.encoder(); encoder != "" {
				return []lab.Resource{lab.OfEncoder(encoder)}
			}
			return nil
		},
		Measure: measureAccuracy,
	})
}

// wordsVersion is 2 where words without a vector may be read, and were one word before.
func wordsVersion(s *Spec, q *Query) int {
	outside := s.Mechanism.Outside != nil
	replaced := s.Policy != mechanisms.Keep && s.KeepWords == "" && !s.IsBaseline() &&
		s.Mechanism.Variant != mechanisms.AsRun && !s.Definition().Needs.Thesaurus && q.Setting != study.TestOnly
	if s.Embedding.IsNone() || q.Model.encoder() != "" || !outside && (replaced || !q.Model.tellsApart()) {
		return 1
	}
	return 2
}

// trainings are the classifiers trained on one text.
type trainings int

func joined(tokens []string) string { return strings.Join(tokens, " ") }

// measureAccuracy trains on one part of the text and tests on the other, once or
// as often as the study says.
func measureAccuracy(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	n, several := q.Options.(trainings)
	if !several {
		return r.accuracy(ctx, q, 0)
	}
	var rows []results.Row
	for i := range int(n) {
		more, err := r.accuracy(ctx, q, i)
		if err != nil {
			return nil, err
		}
		for j := range more {
			more[j].Repetition = i + 1
		}
		rows = append(rows, more...)
	}
	return rows, nil
}

// accuracy is that of one training, counted from 0.
func (r *Release) accuracy(ctx context.Context, q *Query, training int) ([]results.Row, error) {
	start := time.Now()
	t, err := r.trained(ctx, q, training)
	if err != nil {
		return nil, err
	}
	took := time.Since(start)
	known, err := r.reader(ctx, q.Model, !r.IsBaseline() && q.Setting != study.TestOnly)
	if err != nil {
		return nil, err
	}
	examples, err := r.split(ctx, q.Model, known, 2, !r.IsBaseline() && q.Setting != study.TrainOnly)
	if err != nil {
		return nil, err
	}
	right, auc, err := test(ctx, t.Model, len(r.Corpus.Classes), examples)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	accuracy := results.Measured{}
	accuracy.Part = list.Count(right, func(yes bool) bool { return yes })
	accuracy.Value = results.Float(metrics.Percent(accuracy.Part, len(right)))
	accuracy.Whole, accuracy.Items = len(right), results.NewOutcomes(right)
	if encoder := q.Model.encoder(); encoder != "" {
		e, err := r.Lab.Encoder(ctx, encoder, r.Corpus, r.Space)
		if err != nil {
			return nil, err
		}
		accuracy.Detail = e.Name()
	}
	rows := []results.Row{row.Of("accuracy", accuracy)}
	add := func(quantity string, v float64) {
		if m := results.Number(v); m.Value.Known() {
			rows = append(rows, row.Of(quantity, m))
		}
	}
	add("validation_accuracy", 100*t.History.Accuracy)
	add("auc", auc)
	if n := len(t.History.Losses); n > 0 {
		add("epochs", float64(n))
	}
	add("train_seconds", took.Seconds())
	return rows, nil
}

// trained returns the model of a query in one of its trainings. The baseline and all test-only queries
// of one repetition share a model of plain text; local and train-only share one
// of private text.
func (r *Release) trained(ctx context.Context, q *Query, number int) (*Trained, error) {
	private := !r.IsBaseline() && q.Setting != study.TestOnly
	train := func(s *Spec, private bool) (*Trained, error) {
		known, err := r.reader(ctx, q.Model, private)
		if err != nil {
			return nil, err
		}
		training, err := r.split(ctx, q.Model, known, 0, private)
		if err != nil {
			return nil, err
		}
		validation, err := r.split(ctx, q.Model, known, 1, private)
		if err != nil {
			return nil, err
		}
		table, err := r.table(q.Model, known)
		if err != nil {
			return nil, err
		}
		seed := s.ModelSeed(q.Model, q.Setting)
		if number > 0 {
			seed = seed.Derive("training").At(uint64(number))
		}
		return Train(ctx, q.Model, len(r.Corpus.Classes), table, seed, training, validation)
	}
	key := engine.MakeID(q.Model.Name, q.Model.Text(), number)
	if private {
		return Once(r, "model "+key, func() (*Trained, error) { return train(&r.Spec, true) })
	}
	plain := r.Spec
	plain.Mechanism.Mechanism, plain.Mechanism.Variant = results.BaselineMechanism, ""
	plain.Mechanism.Parameters, plain.Mechanism.Epsilon = nil, 0
	of := engine.MakeID("plain", plain.Root(), plain.labels(), r.Repetition, key, r.Corpus.Fingerprint,
		r.Space.Wide.Fingerprint())
	q = &Query{Model: q.Model, Setting: study.Local}
	return lab.Once(r.Lab, of, func() (*Trained, error) { return train(&plain, false) })
}

// tokenized is a tokenizer of the plain train texts and the vectors of its words.
type tokenized struct {
	*embeddings.Tokenizer
	table models.Embedding
}

// tokenizer returns that of a model, nil for a model that reads the words of the
// space.
func (r *Release) tokenizer(m Model) (*tokenized, error) {
	if d, err := models.Find(m.Name); err != nil || !d.Tokenized || r.Embedding.Name == study.NoVectors {
		return nil, err
	}
	return lab.Once(r.Lab, engine.MakeID("tokenizer", r.Corpus.Fingerprint, r.Space.Fingerprint()),
		func() (*tokenized, error) {
			t := embeddings.NewTokenizer(r.Corpus.TrainTexts())
			return &tokenized{t, models.Embedding{Dimension: r.Dimension, Vectors: r.Space.Matrix(t.Words())}}, nil
		})
}

// table returns the vectors that a model reads.
func (r *Release) table(m Model, known *lab.Space) (models.Embedding, error) {
	t, err := r.tokenizer(m)
	switch {
	case err != nil || r.Embedding.IsNone():
		return models.Embedding{}, err
	case t != nil:
		return t.table, nil
	}
	return known.Table, nil
}

// reader returns the words that a classifier knows, each with a number of its own: those of the data set that have
// a vector, and those of the text that it is trained on, private or plain. New words of a text made outside have
// their vectors too. Words without one are added for a model that tells them apart; all others are one unknown word.
func (r *Release) reader(ctx context.Context, m Model, private bool) (*lab.Space, error) {
	apart := m.tellsApart() || r.Embedding.IsNone()
	outside := private && r.Mechanism.Outside != nil && !r.Embedding.IsNone()
	if !apart && !outside {
		return r.Space, nil
	}
	training := r.Corpus.Tokens[0]
	if private {
		text, err := r.Text(ctx)
		if err != nil {
			return nil, err
		}
		training = text[0]
	}
	known := r.Space.Wide
	read := func() (*lab.Space, error) {
		more := map[string]bool{}
		var all []string
		for _, d := range training {
			for _, w := range d {
				if known.Vocabulary.ID(w) == embeddings.Unknown && !more[w] {
					more[w], all = true, append(all, w)
				}
			}
		}
		wide, err := known, error(nil)
		if outside && slices.ContainsFunc(all, func(w string) bool { return !r.Corpus.Has(w) }) {
			wide, err = r.Lab.Words(ctx, r.Embedding, r.Dimension, func(word string) bool {
				return more[word] || known.Vocabulary.ID(word) != embeddings.Unknown
			})
		}
		if err == nil && apart {
			wide, err = wide.WithZeroWords(all)
		}
		if err != nil || wide == known {
			return r.Space, err
		}
		return &lab.Space{Space: r.Space.Space, Table: lab.WholeSpace(wide).Table, Wide: wide}, nil
	}
	key := engine.MakeID("reader", apart)
	if private {
		return Once(r, key, read)
	}
	return lab.Once(r.Lab, engine.MakeID(key, r.Corpus.Fingerprint, r.Space.Wide.Fingerprint()), read)
}

// split returns a split as a classifier that knows these words reads it, private or plain.
func (r *Release) split(ctx context.Context, m Model, known *lab.Space, i int, private bool) (models.Examples, error) {
	labels := r.Corpus.Labels(i)
	if private && r.ReleasesVectors() {
		vectors, err := r.Vectors(ctx)
		return models.Examples{Vectors: vectors[i], Labels: labels}, err
	}
	tokens := r.Corpus.Tokens[i]
	if private {
		text, err := r.Text(ctx)
		if err != nil {
			return models.Examples{}, err
		}
		tokens = text[i]
	}
	if encoder := m.encoder(); encoder != "" {
		encode := func() ([][]float32, error) { return r.encode(ctx, encoder, list.Map(tokens, joined)) }
		key := engine.MakeID("encoded", encoder, i)
		once := func() ([][]float32, error) { return Once(r, key, encode) }
		if !private { // for all releases
			key = engine.MakeID(key, r.Corpus.Fingerprint, r.Space.Fingerprint())
			once = func() ([][]float32, error) { return lab.Once(r.Lab, key, encode) }
		}
		vectors, err := once()
		return models.Examples{Vectors: vectors, Labels: labels}, err
	}
	if t, err := r.tokenizer(m); err != nil {
		return models.Examples{}, err
	} else if t != nil {
		return models.Examples{Sequences: t.Sequences(tokens), Labels: labels}, nil
	}
	return known.Examples(tokens, labels, r.Corpus.WordLevel)
}

// encode returns the vectors that a sentence encoder gives to texts.
func (r *Release) encode(ctx context.Context, encoder string, texts []string) ([][]float32, error) {
	e, err := r.Lab.Encoder(ctx, encoder, r.Corpus, r.Space)
	if err != nil {
		return nil, err
	}
	return e.Encode(ctx, texts)
}

// Model is a classifier to train: its name and all of its parameters.
type Model struct {
	Name       string
	Parameters map[string]any // resolved
}

// Text is the parameters as rows have them.
func (m Model) Text() string {
	if m.Name == "" {
		return ""
	}
	return params.Format(m.Parameters)
}

// tellsApart reports whether the model learns something of each word, not of its vector alone.
func (m Model) tellsApart() bool {
	d, err := models.Find(m.Name)
	return err == nil && d.Words != nil && d.Words(m.Parameters)
}

// encoder is that of the sentence vectors which the model reads; "" for none.
func (m Model) encoder() string {
	ref, _ := m.Parameters[models.Encoder].(string)
	return ref
}

// NewModel returns a model of a study with its defaults. They are part of its
// identity: with other defaults it is a different unit.
func NewModel(m study.ModelSpec) Model {
	parameters, _ := m.Resolve() // checked
	return Model{Name: m.Name, Parameters: parameters}
}

// Trained is a classifier after Fit.
type Trained struct {
	Model   models.Classifier
	History models.History
}

// Train fits a classifier of the given number of classes. Models of sequences
// read embedding; its zero value is fine for dense vectors.
func Train(ctx context.Context, m Model, classes int, embedding models.Embedding, seed stream.Seed, training,
	validation models.Examples) (*Trained, error) {
	c, err := models.New(m.Name, models.Options{Classes: classes, Embedding: embedding, Seed: seed,
		Parameters: m.Parameters})
	if err != nil {
		return nil, err
	}
	h, err := c.Fit(ctx, training, validation)
	if err != nil {
		return nil, err
	}
	return &Trained{c, h}, nil
}

// test returns which examples a classifier gets right and, of two classes, the AUC, else
// NaN.
func test(ctx context.Context, c models.Classifier, classes int, x models.Examples) (right []bool, auc float64,
	err error) {
	scores, err := c.Score(ctx, x)
	right, auc = make([]bool, len(scores)), math.NaN()
	for i, row := range scores {
		right[i] = floats.MaxIdx(row) == x.Labels[i]
	}
	if err != nil || classes != 2 {
		return right, auc, err
	}
	margin, positive := make([]float64, len(scores)), make([]bool, len(scores))
	for i, row := range scores {
		margin[i], positive[i] = row[1]-row[0], x.Labels[i] == 1
	}
	return right, metrics.AUC(margin, positive), nil
}
