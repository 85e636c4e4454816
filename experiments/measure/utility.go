package measure

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/study"
	"mldpbench/internal/stats"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
)

// Quantities beside accuracy that say what a released text is good for.
const (
	probeAccuracy = "probe-accuracy"
	logPerplexity = "log-perplexity"
	speechKept    = "parts-of-speech-kept"
)

func init() {
	Register(Measurement{
		Name: "utility", Version: 1,
		Columns: []results.Column{results.MustColumn("accuracy"), {Name: probeAccuracy,
			Title: "accuracy of a linear probe", Unit: "%", Direction: results.Up, Digits: 1, Threshold: 2,
			Table: "utility", OfModel: true}},
		Asked: func(s *study.Study, scene *study.Scene) (any, bool) {
			if scene.Utility == nil || s.OfPaper() {
				return nil, false
			}
			o := newAttackOptions(scene)
			if scene.Probe {
				o.Encoder = o.encoder
			}
			m := NewModel(*scene.Utility)
			o.Model, o.Probe = &m, scene.Probe
			return o, true
		},
		Applies: hasText, Needs: needsOfAttack, Measure: measureUtility,
	})
	Register(Measurement{
		Name: "language", Version: 1,
		Columns: []results.Column{
			{Name: logPerplexity, Title: "log-perplexity, median", Unit: "nats", Direction: results.Down, Digits: 2,
				Threshold: 0.1, Table: "language"},
			{Name: speechKept, Title: "parts of speech kept", Unit: "%", Direction: results.Up, Digits: 1, Threshold: 2,
				Table: "language"},
		},
		Asked: func(s *study.Study, scene *study.Scene) (any, bool) {
			if !scene.Language || s.OfPaper() {
				return nil, false
			}
			return newAttackOptions(scene), true
		},
		Applies: hasText,
		Needs: func(s *Spec, q *Query) []lab.Resource {
			needs := needsOfAttack(s, q)
			if s.Embedding.Name != study.GeneratedEmbedding {
				needs = append(needs, lab.OfTagger())
			}
			return needs
		},
		Measure: measureLanguage,
	})
}

// measureUtility is the accuracy of a classifier of the utility label that is
// trained and tested on the release that the attackers see, and of a linear
// probe on its sentence encodings; plain text, and the most frequent label,
// beside it.
func measureUtility(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	o := q.Options.(*attackOptions)
	t, err := r.target(ctx, q)
	if err != nil {
		return nil, err
	}
	text, err := t.released(ctx)
	if err != nil {
		return nil, err
	}
	asked := []Model{*o.Model}
	if o.Probe {
		asked = append(asked, Model{Name: "logistic"})
	}
	var rows []results.Row
	for i, model := range asked {
		quantity := "accuracy"
		train := func(text [3][][]int32) (correct int, err error) {
			var x [3]models.Examples
			for i := range x {
				x[i] = models.Examples{Sequences: text[i], Labels: t.labels[i]}
			}
			trained, err := Train(ctx, model, len(t.classes), t.embedding, r.DataSeed().Derive("utility"), x[0], x[1])
			if err != nil {
				return 0, err
			}
			score, err := Test(ctx, trained.Model, len(t.classes), x[2])
			return score.Correct, err
		}
		if i == 1 {
			quantity = probeAccuracy
			train = func(text [3][][]int32) (int, error) { return t.probe(ctx, r, text) }
		}
		key := engine.MakeID(quantity, r.Sample().Dataset, o, r.DataSeed(), r.Corpus.Fingerprint, r.Space.Fingerprint())
		plain, err := lab.Once(r.Lab, key, func() (int, error) { return train(t.plain()) })
		if err != nil {
			return nil, fmt.Errorf("utility: %w", err)
		}
		correct, err := train(text)
		if err != nil {
			return nil, fmt.Errorf("utility: %w", err)
		}
		m, err := t.accuracy(correct, plain, o.Attack.Level)
		if err != nil {
			return nil, err
		}
		row := r.Row(q)
		row.Model = model.Name
		rows = append(rows, row.Of(quantity, m))
	}
	return rows, nil
}

// accuracy is that of so many test documents classified rightly.
func (t *texts) accuracy(correct, plain int, level float64) (results.Measured, error) {
	total := len(t.labels[2])
	m := results.Measured{}
	interval, err := stats.ClopperPearson(correct, total, level)
	if err != nil {
		return m, err
	}
	counts := make([]int, len(t.classes))
	for _, label := range t.labels[2] {
		counts[label]++
	}
	most := slices.Max(counts)
	const percent = 100
	m.Value = results.Float(percent * interval.Estimate)
	m = m.Within(percent*interval.Low, percent*interval.High)
	m.Floor, m.Ceiling = results.Float(metrics.Percent(most, total)), results.Float(metrics.Percent(plain, total))
	m.Part, m.Whole, m.Note = correct, total, fmt.Sprintf("majority label: %d of %d", most, total)
	return m, nil
}

// probe counts the test documents whose utility label a linear classifier finds
// from sentence encodings.
func (t *attackTarget) probe(ctx context.Context, r *Release, text [3][][]int32) (int, error) {
	var x [3]models.Examples
	for i := range x {
		vectors, err := t.situation.Encode(ctx, text[i])
		if err != nil {
			return 0, err
		}
		x[i] = models.Examples{Vectors: vectors, Labels: t.labels[i]}
	}
	probe, err := models.FitHead(ctx, x[0], x[1], len(t.classes), nil, r.DataSeed().Derive("utility", "probe"))
	if err != nil {
		return 0, err
	}
	found, err := probe.Predict(ctx, x[2].Vectors)
	if err != nil {
		return 0, err
	}
	return metrics.Correct(found, t.labels[2])
}

// measureLanguage says how probable the released test text is under a model of
// the shadow text, and, on real data, how many of its words keep their part of
// speech. What plain text has is the ceiling.
func measureLanguage(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	t, err := r.target(ctx, q)
	if err != nil {
		return nil, err
	}
	model, err := t.situation.Language()
	if err != nil {
		return nil, err
	}
	noisy, err := t.situation.Released(ctx, attack.Test)
	if err != nil {
		return nil, err
	}
	plain := t.plain()[2]
	row := func(quantity string, v metrics.Interval, ceiling float64, trials int) results.Row {
		m := results.Number(v.Estimate).Within(v.Low, v.High)
		m.Ceiling, m.Whole = results.Float(ceiling), trials
		return r.Row(q).Of(quantity, m)
	}
	median := metrics.MedianLogPerplexity[[]int32]
	rows := []results.Row{row(logPerplexity, median(noisy, model.LogProbability),
		median(plain, model.LogProbability).Estimate, len(noisy))}
	if r.Corpus.Generated {
		return rows, nil // WordNet does not know its words
	}
	tagger, err := r.Lab.Tagger()
	if err != nil {
		return nil, err
	}
	kept, tokens, total := make([]int, len(plain)), make([]int, len(plain)), 0
	for i, d := range plain {
		if len(noisy[i]) != len(d) {
			return rows, nil // words that lost their places cannot be held against each other
		}
		c, err := metrics.CountPartsOfSpeech([][]string{t.lexicon.Tokens(d)}, [][]string{t.lexicon.Tokens(noisy[i])},
			tagger.PartOfSpeech)
		if err != nil {
			return nil, err
		}
		kept[i], tokens[i], total = c.Kept, c.Tokens, total+c.Tokens
	}
	share, err := metrics.RatioInterval(kept, tokens, q.Options.(*attackOptions).Attack.Level)
	share.Estimate, share.Low, share.High = 100*share.Estimate, 100*share.Low, 100*share.High
	return append(rows, row(speechKept, share, 100, total)), err
}
