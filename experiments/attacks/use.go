package attacks

import (
	"context"
	"fmt"
	"slices"

	"mldpbench/experiments/engine"
	"mldpbench/experiments/lab"
	"mldpbench/experiments/measure"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/models/attack"
	"mldpbench/results"
	"mldpbench/results/stats"
)

const percent = 100

// splits are those of a release.
var splits = [3]string{attack.Train, attack.Validation, attack.Test}

// releasedText is the release that the attackers see, by split.
func releasedText(ctx context.Context, s *attack.Situation) (text [3][][]int32, err error) {
	for i, split := range splits {
		if text[i], err = s.Released(ctx, split); err != nil {
			return text, err
		}
	}
	return text, nil
}

// plain are the documents of a scene as they were.
func (t *texts) plain() (text [3][][]int32) {
	for i, documents := range t.documents {
		for _, d := range documents {
			text[i] = append(text[i], d.Words)
		}
	}
	return text
}

// utility is the accuracy of a classifier of the utility label that is trained
// and tested on the release that the attackers see, and of a linear probe on
// its sentence encodings; plain text, and the most frequent label, beside it.
func (at released) utility(ctx context.Context, r results.Record, t *texts, s *attack.Situation) ([]results.Record,
	error) {
	parameters, err := at.scene.Utility.Resolve()
	if err != nil {
		return nil, err
	}
	text, err := releasedText(ctx, s)
	if err != nil {
		return nil, err
	}
	r.Quantity = "accuracy"
	rows := []results.Record{r}
	if at.scene.Probe {
		r.Quantity, r.Model = probeAccuracy, "logistic"
		rows = append(rows, r)
	}
	for i, row := range rows {
		train := func(text [3][][]int32) (correct int, err error) {
			if row.Quantity == probeAccuracy {
				return at.probe(ctx, t, s, text)
			}
			var x [3]models.Examples
			for i := range x {
				x[i] = models.Examples{Sequences: text[i], Labels: t.labels[i]}
			}
			trained, err := measure.Train(ctx, measure.Model{Name: row.Model, Parameters: parameters},
				len(t.classes), t.embedding, at.dataSeed().Derive(Utility), x[0], x[1])
			if err != nil {
				return 0, err
			}
			score, err := measure.Test(ctx, trained.Model, len(t.classes), x[2])
			return score.Correct, err
		}
		key := engine.MakeID(row.Quantity, at.sample().Dataset, at.scene.Shadow, at.scene.Utility, at.dataSeed(),
			r.EmbeddingFingerprint, at.study.Encoder)
		plain, err := lab.Once(at.lab, key, func() (int, error) { return train(t.plain()) })
		if err != nil {
			return nil, err
		}
		correct, err := train(text)
		if err != nil {
			return nil, err
		}
		if rows[i], err = at.accuracy(row, t, correct, plain); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// accuracy is the row of so many test documents classified rightly.
func (at released) accuracy(r results.Record, t *texts, correct, plain int) (results.Record, error) {
	total := len(t.labels[2])
	interval, err := stats.ClopperPearson(correct, total, at.options.Level)
	if err != nil {
		return r, err
	}
	counts := make([]int, len(t.classes))
	for _, label := range t.labels[2] {
		counts[label]++
	}
	most := slices.Max(counts)
	r.Value = results.Float(percent * interval.Estimate)
	r.ValueLow, r.ValueHigh = results.Float(percent*interval.Low), results.Float(percent*interval.High)
	r.Chance, r.Ceiling = results.Float(metrics.Percent(most, total)), results.Float(metrics.Percent(plain, total))
	r.Trials, r.Note = total, fmt.Sprintf("majority label: %d of %d", most, total)
	return r, nil
}

// probe counts the test documents whose utility label a linear classifier finds
// from sentence encodings.
func (at released) probe(ctx context.Context, t *texts, s *attack.Situation, text [3][][]int32) (int, error) {
	var x [3]models.Examples
	for i := range x {
		vectors, err := s.Encode(ctx, text[i])
		if err != nil {
			return 0, err
		}
		x[i] = models.Examples{Vectors: vectors, Labels: t.labels[i]}
	}
	found, err := models.LinearProbe(ctx, x[0], x[1], x[2], len(t.classes), at.dataSeed().Derive(Utility, "probe"))
	correct := 0
	for i, label := range found {
		if label == t.labels[2][i] {
			correct++
		}
	}
	return correct, err
}

// language says how probable the released test text is under a model of the
// shadow text, and, on real data, how many of its words keep their part of
// speech. What plain text has is the ceiling.
func (at released) language(ctx context.Context, r results.Record, t *texts, s *attack.Situation) ([]results.Record,
	error) {
	model, err := s.Language()
	if err != nil {
		return nil, err
	}
	noisy, err := s.Released(ctx, attack.Test)
	if err != nil {
		return nil, err
	}
	plain := t.plain()[2]
	row := func(quantity string, v metrics.Interval, ceiling float64, trials int) results.Record {
		r := r
		r.Quantity, r.Value, r.ValueLow, r.ValueHigh = quantity, results.Float(v.Estimate), results.Float(v.Low),
			results.Float(v.High)
		r.Ceiling, r.Trials = results.Float(ceiling), trials
		return r
	}
	median := metrics.MedianLogPerplexity[[]int32]
	rows := []results.Record{row(logPerplexity, median(noisy, model.LogProbability),
		median(plain, model.LogProbability).Estimate, len(noisy))}
	if r.Generated {
		return rows, nil // WordNet does not know its words
	}
	tagger, err := at.lab.Tagger()
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
	share, err := metrics.RatioInterval(kept, tokens, at.options.Level)
	share.Estimate, share.Low, share.High = percent*share.Estimate, percent*share.Low, percent*share.High
	return append(rows, row(speechKept, share, percent, total)), err
}
