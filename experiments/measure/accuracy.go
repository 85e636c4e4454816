package measure

import (
	"context"
	"fmt"
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

// The accuracy of classifiers.
func init() {
	Register(Measurement{
		Name: "accuracy", Version: 1, Model: true, Setting: true, Baseline: true, VersionOf: wordsVersion,
		Quantities: quantities("accuracy", "validation_accuracy", "auc", "epochs", "train_seconds"),
		Asked: func(_ *study.Study, scene *study.Scene) (any, bool) {
			var options any // nil keeps the keys of studies without trainings
			if scene.Trainings > 0 {
				options = trainings(scene.Trainings)
			}
			return options, len(scene.Models) > 0
		},
		// A mechanism that releases vectors, and a data set of single words or of pairs, are
		// used with linear models only; a projected vector and a plain one have different
		// lengths, and one vector does not tell the texts of a pair apart.
		Applies: func(s *Spec, q *Query) bool {
			t, _ := s.Dataset.Definition() // checked
			text := hasText(s, q)
			linear := t.WordLevel || t.Pairs || !text
			return (!linear || q.Model.Vectors) && (text || q.Setting == study.Local && !t.Pairs)
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
func measureAccuracy(ctx context.Context, r *Release, q *Query) (rows []results.Row, err error) {
	n, several := q.Options.(trainings)
	for i := range max(1, int(n)) {
		more, err := r.accuracy(ctx, q, i)
		if err != nil {
			return nil, err
		}
		for j := range more {
			if several {
				more[j].Repetition = i + 1
			}
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
	examples, err := r.split(ctx, t.reading, 2, r.testedOn(q))
	if err != nil {
		return nil, err
	}
	right, auc, err := test(ctx, t.model, len(r.Corpus.Classes), examples)
	if err != nil {
		return nil, err
	}
	row := r.Row(q)
	accuracy := results.Measured{}
	accuracy.Part = list.Count(right, func(yes bool) bool { return yes })
	accuracy.Value = results.Float(metrics.Percent(accuracy.Part, len(right)))
	accuracy.Whole = len(right)
	accuracy.Items = results.NewOutcomes(right)
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
	add("validation_accuracy", 100*t.history.Accuracy)
	add("auc", auc)
	if n := len(t.history.Losses); n > 0 {
		add("epochs", float64(n))
	}
	add("train_seconds", took.Seconds())
	return rows, nil
}

// trained is a classifier after Fit.
type trained struct {
	*reading
	model   models.Classifier
	history models.History
}

// trained returns the model of a query in one of its trainings. The baseline and all test-only queries
// of one repetition share a model of plain text; local and train-only share one
// of private text.
func (r *Release) trained(ctx context.Context, q *Query, number int) (*trained, error) {
	kind := r.trainedOn(q)
	s := r.Spec
	setting := q.Setting
	if kind == originalText {
		s.Mechanism.Mechanism = results.BaselineMechanism
		s.Mechanism.Variant = ""
		s.Mechanism.Parameters = nil
		s.Mechanism.Epsilon = 0
		setting = study.Local
	}
	seed := s.ModelSeed(q.Model, setting)
	if number > 0 {
		seed = seed.Derive("training").At(uint64(number))
	}
	key := engine.MakeID("model", q.Model.Name, q.Model.Text(), seed, r.Space.Wide.Fingerprint())
	return once(r, kind, key, func() (*trained, error) {
		x, err := r.reading(ctx, q.Model, kind)
		if err != nil {
			return nil, err
		}
		training, err := r.split(ctx, x, 0, kind)
		if err != nil {
			return nil, err
		}
		validation, err := r.split(ctx, x, 1, kind)
		if err != nil {
			return nil, err
		}
		return r.fit(ctx, x, seed, training, validation)
	})
}

// trainedOn is the text that a query trains on.
func (r *Release) trainedOn(q *Query) textKind {
	if r.IsBaseline() || q.Setting == study.TestOnly {
		return originalText
	}
	return privatisedText
}

// testedOn is the text that a query tests on.
func (r *Release) testedOn(q *Query) textKind {
	if r.IsBaseline() || q.Setting == study.TrainOnly {
		return originalText
	}
	return privatisedText
}

// fit trains a classifier.
func (r *Release) fit(ctx context.Context, x *reading, seed stream.Seed, training,
	validation models.Examples) (*trained, error) {
	c, err := models.New(x.Name, models.Options{Classes: len(r.Corpus.Classes), Embedding: x.table, Seed: seed,
		Parameters: x.Parameters})
	if err != nil {
		return nil, err
	}
	h, err := c.Fit(ctx, training, validation)
	return &trained{x, c, h}, err
}

// reading is how a classifier reads texts.
type reading struct {
	Model
	tokenizer *embeddings.Tokenizer // numbers the words of the plain train texts; nil: words does
	words     *lab.Space            // that it knows
	table     models.Embedding      // of their vectors
}

// reading returns that of a model which is trained on one text of a release.
func (r *Release) reading(ctx context.Context, m Model, kind textKind) (*reading, error) {
	var x reading
	var err error
	if m.Tokenized && !r.Embedding.IsNone() {
		x, err = ofPlain(r, engine.MakeID("tokenizer", r.Space.Fingerprint()), func() (reading, error) {
			t := embeddings.NewTokenizer(r.Corpus.TrainTexts())
			table := models.Embedding{Dimension: r.Dimension, Vectors: r.Space.Matrix(t.Words())}
			return reading{tokenizer: t, table: table}, nil
		})
	} else if x.words, err = r.reader(ctx, m, kind); err == nil && !r.Embedding.IsNone() {
		x.table = x.words.Table
	}
	x.Model = m
	return &x, err
}

// reader returns the words that a classifier knows, each with a number of its own: those of the data set that have
// a vector, and those of the text that it is trained on, private or plain. New words of a text made outside have
// their vectors too. Words without one are added for a model that tells them apart; all others are one unknown word.
func (r *Release) reader(ctx context.Context, m Model, kind textKind) (*lab.Space, error) {
	apart := m.tellsApart() || r.Embedding.IsNone()
	outside := kind == privatisedText && r.Mechanism.Outside != nil && !r.Embedding.IsNone()
	if !apart && !outside {
		return r.Space, nil
	}
	training := r.Corpus.Tokens[0]
	if kind == privatisedText {
		text, err := r.Text(ctx)
		if err != nil {
			return nil, err
		}
		training = text[0]
	}
	known := r.Space.Wide
	return once(r, kind, engine.MakeID("reader", apart, known.Fingerprint()), func() (*lab.Space, error) {
		all, more := withoutVector(training, known.Vocabulary)
		wide := known
		var err error
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
	})
}

// withoutVector returns the words of a text that a vocabulary has not, in the order of their first
// occurrence, and as a set.
func withoutVector(text [][]string, v *embeddings.Vocabulary) (all []string, more map[string]bool) {
	more = map[string]bool{}
	for _, d := range text {
		for _, w := range d {
			if v.ID(w) == embeddings.Unknown && !more[w] {
				more[w] = true
				all = append(all, w)
			}
		}
	}
	return all, more
}

// split returns a split as a classifier reads it, private or plain.
func (r *Release) split(ctx context.Context, x *reading, i int, kind textKind) (models.Examples, error) {
	tokens := r.Corpus.Tokens[i]
	labels := r.Corpus.Labels(i)
	if kind == privatisedText {
		text, err := r.Text(ctx)
		if err != nil || r.vectors[i] != nil {
			return models.Examples{Vectors: r.vectors[i], Labels: labels}, err
		}
		tokens = text[i]
	}
	if encoder := x.encoder(); encoder != "" {
		key := engine.MakeID("encoded", encoder, i, r.Space.Fingerprint())
		vectors, err := once(r, kind, key, func() ([][]float32, error) {
			e, err := r.Lab.Encoder(ctx, encoder, r.Corpus, r.Space)
			if err != nil {
				return nil, err
			}
			return e.Encode(ctx, list.Map(tokens, joined))
		})
		return models.Examples{Vectors: vectors, Labels: labels}, err
	}
	if r.Corpus.Pairs {
		return r.pairs(x, i, kind, labels)
	}
	if x.tokenizer != nil {
		return models.Examples{Sequences: x.tokenizer.Sequences(tokens), Labels: labels}, nil
	}
	if r.Corpus.WordLevel {
		return x.words.WordExamples(tokens, labels)
	}
	return x.words.Examples(tokens, labels), nil
}

// pairs returns a split of pairs. A mechanism keeps the place of each word, and so where the second text begins.
func (r *Release) pairs(x *reading, split int, kind textKind, labels []int) (models.Examples, error) {
	tokens := r.Corpus.Tokens[split]
	if kind == privatisedText {
		tokens = r.aligned[split]
	}
	first := make([][]string, len(tokens))
	second := make([][]string, len(tokens))
	for i, d := range r.Corpus.Splits()[split].Documents {
		if len(tokens[i]) != len(d.Tokens) {
			return models.Examples{}, fmt.Errorf("document %d of a data set of pairs has %d words in place of %d: "+
				"where its second text begins is not known", i+1, len(tokens[i]), len(d.Tokens))
		}
		first[i] = tokens[i][:d.First]
		second[i] = tokens[i][d.First:]
	}
	words := x.words.Wide.Vocabulary
	vectors := models.PairVectors(x.words.Table, words.Rows(shown(first)), words.Rows(shown(second)))
	return models.Examples{Vectors: vectors, Labels: labels}, nil
}

// Model is a classifier to train and all of its parameters.
type Model struct {
	models.Definition
	Parameters map[string]any // resolved
}

// NewModel returns a model of a study with its defaults. They are part of its
// identity: with other defaults it is a different unit.
func NewModel(m study.ModelSpec) Model {
	d, _ := models.Find(m.Name) // checked, as what follows
	parameters, _ := d.Resolve(m.Parameters)
	return Model{d, parameters}
}

// Text is the parameters as rows have them.
func (m Model) Text() string { return params.Format(m.Parameters) }

// tellsApart reports whether the model learns something of each word, not of its vector alone.
func (m Model) tellsApart() bool { return m.Words != nil && m.Words(m.Parameters) }

// encoder is that of the sentence vectors which the model reads; "" for none.
func (m Model) encoder() string {
	ref, _ := m.Parameters[models.Encoder].(string)
	return ref
}

// test returns which examples a classifier gets right and, of two classes, the AUC, else
// NaN.
func test(ctx context.Context, c models.Classifier, classes int, x models.Examples) (right []bool, auc float64,
	err error) {
	scores, err := c.Score(ctx, x)
	right = make([]bool, len(scores))
	auc = math.NaN()
	for i, row := range scores {
		right[i] = floats.MaxIdx(row) == x.Labels[i]
	}
	if err != nil || classes != 2 {
		return right, auc, err
	}
	margin := make([]float64, len(scores))
	positive := make([]bool, len(scores))
	for i, row := range scores {
		margin[i] = row[1] - row[0]
		positive[i] = x.Labels[i] == 1
	}
	return right, metrics.AUC(margin, positive), nil
}
