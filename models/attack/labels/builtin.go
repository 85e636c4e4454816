package labels

import (
	"context"

	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/stream"
)

// The attackers who read words: static ones learn from plain text, adaptive ones from
// releases of their own as well.
func init() {
	svm := Learner{Name: "svm", Learn: learnSVM}
	// An epoch of an LSTM costs more than all others together.
	lstm := Learner{
		Name:     "lstm",
		Releases: 1,
		Learn:    learnLSTM,
	}
	ngrams := Learner{Name: "ngrams", Learn: learnNGrams}
	for _, from := range []Source{Static, Adaptive} {
		name := "attribute-" + string(from)
		title := string(from)
		Register(Attacker{
			Name:    name + "-svm",
			Title:   title + " SVM",
			Version: 3,
			From:    from,
			Learner: svm,
		})
		Register(Attacker{
			Name:    name + "-lstm",
			Title:   title + " LSTM",
			Version: 3,
			From:    from,
			Learner: lstm,
		})
		Register(Attacker{
			Name:    name + "-ngrams",
			Title:   title + " n-grams",
			Version: 2,
			From:    from,
			Learner: ngrams,
		})
	}
	Register(Attacker{
		Name:    "attribute-public-ngrams",
		Title:   "adaptive with public text n-grams",
		Version: 2,
		Needs:   []attack.Need{attack.NeedsPublic},
		From:    Public,
		Learner: ngrams,
	})
}

// classified is a classifier as a scorer of documents, which read makes its examples.
func classified(m models.Classifier, note string, read func([]attack.Document) models.Examples) Learned {
	return Learned{
		Note: note,
		Score: func(ctx context.Context, documents []attack.Document) ([][]float64, error) {
			return m.Score(ctx, read(documents))
		},
	}
}

// sequences are documents as words.
func sequences(documents []attack.Document) models.Examples {
	return models.Examples{Sequences: attack.WordsOf(documents), Labels: privateLabels(documents)}
}

// learnSVM reads tf-idf, which needs no vectors and distinguishes words with the same
// meaning; these carry the style.
func learnSVM(ctx context.Context, t *attack.Target, train, validation []attack.Document, seed stream.Seed) (
	Learned, error) {
	o := models.Options{Seed: seed, Parameters: map[string]any{"features": "tfidf"}}
	return fit(ctx, t, "svm", o, train, validation)
}

// learnLSTM trains a small network.
func learnLSTM(ctx context.Context, t *attack.Target, train, validation []attack.Document, seed stream.Seed) (
	Learned, error) {
	return fit(ctx, t, "lstm", models.Options{Seed: seed, Parameters: t.Options.Network}, train, validation)
}

// fit trains a registered classifier.
func fit(ctx context.Context, t *attack.Target, model string, o models.Options, train, validation []attack.Document) (
	Learned, error) {
	o.Classes = t.Corpus.PrivateLabels
	o.Embedding = t.Words.Embedding
	m, err := models.New(model, o)
	if err != nil {
		return Learned{}, err
	}
	_, err = m.Fit(ctx, sequences(train), sequences(validation))
	return classified(m, "", sequences), err
}

// learnNGrams learns n-grams of words and of characters, and mean vectors.
func learnNGrams(ctx context.Context, t *attack.Target, train, validation []attack.Document, _ stream.Seed) (
	Learned, error) {
	o := models.NGramOptions{
		Classes:   t.Corpus.PrivateLabels,
		Spelling:  t.Words.Spelling,
		Embedding: t.Words.Embedding,
	}
	m, h, err := models.FitNGrams(ctx, o, sequences(train), sequences(validation))
	return classified(m, h.Chosen, sequences), err
}
