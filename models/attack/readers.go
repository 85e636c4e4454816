package attack

import (
	"context"

	"mldpbench/models"
	"mldpbench/stream"
)

func init() {
	svm := learner{name: "svm", fit: fitClassifier("svm")} // on tf-idf
	// An epoch of an LSTM costs more than all others together.
	lstm := learner{name: "lstm", releases: 1, fit: fitClassifier("lstm")}
	ngrams := learner{name: "ngrams", fit: fitNGrams}
	for _, from := range []string{static, adaptive} {
		registerLabels("attribute-"+from+"-svm", from+" SVM", 3, svm, from)
		registerLabels("attribute-"+from+"-lstm", from+" LSTM", 3, lstm, from)
		registerLabels("attribute-"+from+"-ngrams", from+" n-grams", 2, ngrams, from)
	}
	registerLabels("attribute-public-ngrams", "adaptive with public text n-grams", 2, ngrams, public, NeedsPublic)
}

// What an attacker of private labels learns from: plain text; releases of his own by the
// same mechanism, or plain text; such releases, also of public text, or plain text; his
// own releases alone.
const static, adaptive, own = "static", "adaptive", "own"

// registerLabels adds an attacker of private labels.
func registerLabels(name, title string, version int, l learner, from string, needs ...Need) {
	column := labelColumn(name, title)
	Register(Definition{Name: name, Version: version, Needs: append(needs, NeedsPrivate), OneRelease: !l.written,
		Columns: column, Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
			return s.learnPrivate(ctx, column[0].Name, l, from)
		}})
}

// learnPrivate attacks by who is best on own releases of the validation split: who
// learned from the source or from less, so he is not below a simpler one but by chance.
// Ties go to the one that knows more. All attackers of one learner start from the same
// seed and differ only in their input.
func (s *Situation) learnPrivate(ctx context.Context, column string, l learner, from string) ([]Outcome, error) {
	seed := s.Seed.Derive("attribute", l.name)
	return s.findPrivate(ctx, column, l, seed, func(plain trained) (trained, error) {
		if from == static {
			return plain, nil
		}
		made, err := once(&s.Made.Memo, "own "+l.name, func() (ownFit, error) { return l.fitOwn(ctx, s, seed) })
		if err != nil || from == own {
			return made.trained, err
		}
		all := []trained{made.from("own releases"), plain.from("plain text")}
		if from == public && len(s.Public) > 0 {
			both, err := l.fitOwn(ctx, s, seed, public)
			if err != nil {
				return plain, err
			}
			all = append([]trained{both.from("own releases and public text")}, all...)
		}
		return mostRight(ctx, all, made.validation)
	})
}

// from adds to the note from what was learned.
func (t trained) from(text string) trained {
	if t.note != "" {
		text += ": " + t.note
	}
	return trained{t.score, "trained on " + text}
}

// classified is a classifier as a scorer of documents, which read makes its examples.
func classified(m models.Classifier, note string, read func([]Document) models.Examples) trained {
	return trained{func(ctx context.Context, documents []Document) ([][]float64, error) {
		return m.Score(ctx, read(documents))
	}, note}
}

func sequences(documents []Document) models.Examples {
	return models.Examples{Sequences: wordsOf(documents), Labels: privates(documents)}
}

// fitClassifier trains a registered classifier. One that can choose its features
// reads tf-idf, which needs no vectors and distinguishes words with the same
// meaning; these carry the style.
func fitClassifier(model string) func(context.Context, *Situation, []Document, []Document, stream.Seed) (trained, error) {
	return func(ctx context.Context, s *Situation, train, validation []Document, seed stream.Seed) (trained, error) {
		parameters := map[string]any{"features": "tfidf"}
		if model == "lstm" {
			parameters = s.Options.Network
		}
		m, err := models.New(model, models.Options{Classes: s.Privates, Embedding: s.Embedding, Seed: seed,
			Parameters: parameters})
		if err != nil {
			return trained{}, err
		}
		_, err = m.Fit(ctx, sequences(train), sequences(validation))
		return classified(m, "", sequences), err
	}
}

func fitNGrams(ctx context.Context, s *Situation, train, validation []Document, _ stream.Seed) (trained, error) {
	m, h, err := models.FitNGrams(ctx, models.NGramOptions{Classes: s.Privates, Spelling: s.Spelling,
		Embedding: s.Embedding}, sequences(train), sequences(validation))
	return classified(m, h.Chosen, sequences), err
}
