package attack

import (
	"context"

	"mldpbench/models"
	"mldpbench/stream"
)

// fitting is how a reader of words learns.
type fitting func(ctx context.Context, s *Situation, train, validation labelled[[]int32], seed stream.Seed) (
	trained[[]int32], error)

func ofWords(name string, releases int, fit fitting) reader[[]int32] {
	return reader[[]int32]{name: name, releases: releases, plain: wordsOf, release: (*Situation).release, fit: fit}
}

func init() {
	for _, r := range []struct {
		name, title string
		needs       []Need
		version     int
		releases    int
		fit         fitting
	}{
		{"svm", "SVM", nil, 3, 0, fitClassifier("svm")}, // on tf-idf
		// An epoch of an LSTM costs more than all others together.
		{"lstm", "LSTM", []Need{NeedsVectors}, 3, 1, fitClassifier("lstm")},
		{"ngrams", "n-grams", []Need{NeedsWords}, 2, 0, fitNGrams},
		{"encoder", "sentence encoder", []Need{NeedsEncoder}, 2, 0, fitEncoder},
	} {
		// Trained on plain text; on releases of his own by the same mechanism; on such
		// releases of the training split and of public text.
		for _, t := range []struct{ name, title string }{{"static", "static"}, {"adaptive", "adaptive"},
			{"public", "adaptive with public text"}} {
			needs := append([]Need{NeedsPrivate}, r.needs...)
			if t.name == "public" {
				if r.name != "ngrams" {
					continue
				}
				needs = append(needs, NeedsPublic)
			}
			name := "attribute-" + t.name + "-" + r.name
			Register(Definition{Name: name, Version: r.version, Needs: needs, OneRelease: true,
				Columns: labelColumns(name, t.title+" "+r.title),
				Start: finishing(func(ctx context.Context, s *Situation) ([]Outcome, error) {
					return s.learnPrivate(ctx, name, ofWords(r.name, r.releases, r.fit), t.name != "static", t.name == "public")
				})})
		}
	}
}

// learnPrivate attacks by a reader. All attackers of one start from the same seed and
// differ only in their input.
func (s *Situation) learnPrivate(ctx context.Context, name string, r reader[[]int32], adaptive, withPublic bool) (
	[]Outcome, error) {
	seed := s.Seed.Derive("attribute", r.name)
	return findPrivate(ctx, s, name, r, func() (trained[[]int32], error) {
		return r.fit(ctx, s, r.onPlain(s, Train), r.onPlain(s, Validation), seed)
	}, func(plain trained[[]int32]) (trained[[]int32], error) {
		if !adaptive {
			return plain, nil
		}
		return adapt(ctx, s, r, plain, withPublic, seed)
	})
}

// classified is a classifier as a scorer of documents; read makes its examples.
func classified[D any](m models.Classifier, note string, read func(ctx context.Context, x labelled[D]) (models.Examples,
	error)) trained[D] {
	return trained[D]{func(ctx context.Context, documents []D) ([][]float64, error) {
		x, err := read(ctx, labelled[D]{documents: documents})
		if err != nil {
			return nil, err
		}
		return m.Score(ctx, x)
	}, note}
}

func sequences(_ context.Context, x labelled[[]int32]) (models.Examples, error) {
	return models.Examples{Sequences: x.documents, Labels: x.labels}, nil
}

// fitClassifier trains a registered classifier. One that can choose its features
// reads tf-idf, which needs no vectors and distinguishes words with the same
// meaning; these carry the style.
func fitClassifier(model string) fitting {
	return func(ctx context.Context, s *Situation, train, validation labelled[[]int32], seed stream.Seed) (
		trained[[]int32], error) {
		parameters := map[string]any{"features": "tfidf"}
		if model == "lstm" {
			parameters = s.Options.Network
		}
		m, err := models.New(model, models.Options{Classes: s.Privates, Embedding: s.Embedding, Seed: seed,
			Parameters: parameters})
		if err != nil {
			return trained[[]int32]{}, err
		}
		x, _ := sequences(ctx, train)
		y, _ := sequences(ctx, validation)
		_, err = m.Fit(ctx, x, y)
		return classified(m, "", sequences), err
	}
}

func fitNGrams(ctx context.Context, s *Situation, train, validation labelled[[]int32], _ stream.Seed) (trained[[]int32],
	error) {
	x, _ := sequences(ctx, train)
	y, _ := sequences(ctx, validation)
	m, h, err := models.FitNGrams(ctx, models.NGramOptions{Classes: s.Privates, Spelling: s.Spelling,
		Embedding: s.Embedding}, x, y)
	return classified(m, h.Chosen, sequences), err
}

// headLayers are the hidden layers of the network on sentence vectors.
var headLayers = []int{64}

func fitEncoder(ctx context.Context, s *Situation, train, validation labelled[[]int32], seed stream.Seed) (
	out trained[[]int32], err error) {
	read := func(ctx context.Context, x labelled[[]int32]) (models.Examples, error) {
		v, err := s.Encode(ctx, x.documents)
		return models.Examples{Vectors: v, Labels: x.labels}, err
	}
	x, err := read(ctx, train)
	if err != nil {
		return out, err
	}
	y, err := read(ctx, validation)
	if err != nil {
		return out, err
	}
	m, h, err := models.FitHead(ctx, x, y, s.Privates, headLayers, seed)
	return classified(m, h.Chosen, read), err
}
