package attack

import (
	"context"
	"fmt"
	"strings"

	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/stream"
)

func init() {
	for _, model := range []string{"svm", "lstm"} {
		for _, adaptive := range []bool{false, true} {
			name, doc := "attribute-static-"+model,
				"trained on plain text, finds the private label of privatised text"
			if adaptive {
				name, doc = "attribute-adaptive-"+model,
					"trained on text privatised by the same mechanism, finds the private label of privatised text"
			}
			needs := []Need{NeedsPrivate}
			if model == "lstm" {
				needs = append(needs, NeedsVectors)
			}
			title := map[bool]string{false: "static ", true: "adaptive "}[adaptive] + strings.ToUpper(model)
			Register(Definition{
				Name: name, Title: "attribute inference, " + title, Doc: model + " " + doc, Needs: needs,
				OneRelease: true,
				Columns: []Column{
					{Name: name + "-accuracy", Title: "private label found, " + title, Unit: "share",
						Doc: "share of private labels found"},
					{Name: name + "-f1", Title: "macro F1, " + title, Unit: "share",
						Doc: "macro F1 of the private label"},
					{Name: name + "-advantage", Title: "advantage, " + title, Unit: "ratio",
						Doc: "(F1 − majority)/(plain − majority): 1 where privatising does not hinder the attacker"},
					{Name: name + "-accuracy-advantage", Title: "advantage in accuracy, " + title, Unit: "ratio",
						Doc: "the same of accuracy; 0 for an attacker who learns nothing"},
				},
				Run: func(ctx context.Context, s *Situation) ([]Outcome, error) {
					return inferAttribute(ctx, s, name, model, adaptive)
				},
			})
		}
	}
}

// inferAttribute trains and tests an attacker. The SVM reads tf-idf, which
// needs no vectors and distinguishes words with the same meaning; these carry
// the style.
func inferAttribute(ctx context.Context, s *Situation, name, model string, adaptive bool) ([]Outcome, error) {
	labels := privates(s.Test)
	// Both attackers start from the same seed and differ only in their input.
	seed := s.DataSeed.Derive("attribute", model)
	plain, err := once(s.Memo, "attribute "+model, func() (attributeOnPlain, error) {
		m, err := s.fit(ctx, model, wordsOf(s.Train), wordsOf(s.Validation), seed)
		if err != nil {
			return attributeOnPlain{}, err
		}
		found, err := m.Predict(ctx, s.examples(wordsOf(s.Test), labels))
		return attributeOnPlain{m, found}, err
	})
	if err != nil {
		return nil, err
	}
	attacker := plain.attacker
	test, err := s.Released(ctx, Test)
	if err != nil {
		return nil, err
	}
	if adaptive {
		train, err := s.Released(ctx, Train)
		if err != nil {
			return nil, err
		}
		validation, err := s.Released(ctx, Validation)
		if err != nil {
			return nil, err
		}
		if attacker, err = s.fit(ctx, model, train, validation, seed); err != nil {
			return nil, err
		}
	}
	found, err := attacker.Predict(ctx, s.examples(test, labels))
	if err != nil {
		return nil, err
	}
	a, err := metrics.MeasureAttribute(found, plain.found, labels, s.Privates, s.Options.Resamples, s.Options.Level,
		s.Seed)
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("plain text: accuracy %.3f, F1 %.3f; most frequent label: %.3f, %.3f", a.PlainAccuracy,
		a.PlainF1, a.MajorityAccuracy, a.MajorityF1)
	n := len(labels)
	return []Outcome{
		{Column: name + "-accuracy", Value: a.Accuracy, Floor: a.MajorityAccuracy, Ceiling: a.PlainAccuracy,
			Count: n, Note: note},
		{Column: name + "-f1", Value: a.MacroF1, Floor: a.GuessF1, Ceiling: a.PlainF1, Count: n, Note: note},
		{Column: name + "-advantage", Value: a.Advantage, Floor: a.AdvantageFloor, Ceiling: 1, Count: n},
		{Column: name + "-accuracy-advantage", Value: a.AccuracyAdvantage, Floor: 0, Ceiling: 1, Count: n},
	}, nil
}

// attributeOnPlain is the static attacker with its results on plain text.
type attributeOnPlain struct {
	attacker models.Classifier
	found    []int
}

func privates(documents []Document) []int {
	out := make([]int, len(documents))
	for i, d := range documents {
		out[i] = d.Private
	}
	return out
}

// fit trains a classifier of private labels.
func (s *Situation) fit(ctx context.Context, model string, train, validation [][]int32,
	seed stream.Seed) (models.Classifier, error) {
	parameters := map[string]any{}
	if model == "svm" {
		parameters["features"] = "tfidf"
	}
	for name, v := range s.Options.Model {
		d, err := models.Find(model)
		if err != nil {
			return nil, err
		}
		for _, p := range d.Parameters {
			if p.Name == name {
				parameters[name] = v
			}
		}
	}
	m, err := models.New(model, models.Options{Classes: s.Privates, Embedding: s.Embedding, Seed: seed,
		Parameters: parameters})
	if err != nil {
		return nil, err
	}
	_, err = m.Fit(ctx, s.examples(train, privates(s.Train)), s.examples(validation, privates(s.Validation)))
	return m, err
}

func (s *Situation) examples(documents [][]int32, labels []int) models.Examples {
	return models.Examples{Sequences: documents, Labels: labels}
}
