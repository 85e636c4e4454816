package measure

import (
	"context"

	"mldpbench/experiments/study"
	"mldpbench/metrics"
	"mldpbench/models"
	"mldpbench/results"
	"mldpbench/stream"
)

// Membership inference.
func init() {
	Register(Measurement{
		Name:      "membership",
		Version:   1,
		Model:     true,
		Setting:   true,
		Baseline:  true,
		VersionOf: wordsVersion,
		Metric: study.Metric{
			Key: "membership",
			Doc: "was a text among those that a classifier was trained on? no options: {}",
			New: func() any { return &struct{}{} },
		},
		Quantities: quantities("mia_auc"),
		Measure:    measureMembership,
	})
}

// measureMembership is the attack of Carvalho et al. 2023, Appendix C: was a text
// among those that a classifier was trained on? One half of the documents is for
// the model, and the other for the attacker's shadow model, which is trained like
// it. Both are asked about plain texts, which a person would recognise as theirs.
func measureMembership(ctx context.Context, r *Release, q *Query) ([]results.Row, error) {
	var read, plain [3]models.Examples
	kind := r.trainedOn(q)
	x, err := r.reading(ctx, q.Model, kind)
	if err != nil {
		return nil, err
	}
	for i := range read {
		plain[i], err = r.split(ctx, x, i, originalText)
		if err != nil {
			return nil, err
		}
		read[i] = plain[i]
		if i == 2 {
			break // nothing is trained on the test documents
		}
		read[i], err = r.split(ctx, x, i, kind)
		if err != nil {
			return nil, err
		}
	}
	seed := r.ModelSeed(q.Model, q.Setting).Derive("membership")
	side := func(half int, seed stream.Seed) (models.Membership, error) {
		t, err := r.fit(ctx, x, seed, everySecond(read[0], half), everySecond(read[1], half))
		if err != nil {
			return models.Membership{}, err
		}
		return models.Membership{
			Model:   t.model,
			Members: everySecond(plain[0], half),
			Others:  everySecond(plain[2], half),
		}, nil
	}
	target, err := side(0, seed.Derive("target"))
	if err != nil {
		return nil, err
	}
	shadow, err := side(1, seed.Derive("shadow"))
	if err != nil {
		return nil, err
	}
	scores, member, err := models.MembershipInference(ctx, shadow, target, seed.Derive("attack"))
	if err != nil {
		return nil, err
	}
	return []results.Row{r.Row(q).Of("mia_auc", results.Number(metrics.AUC(scores, member)))}, nil
}

// everySecond returns the examples at even positions, or at odd ones. Sources are
// shuffled when they are sampled, so the halves are random.
func everySecond(x models.Examples, odd int) (half models.Examples) {
	for i := odd; i < len(x.Labels); i += 2 {
		half.Labels = append(half.Labels, x.Labels[i])
		if len(x.Sequences) > 0 {
			half.Sequences = append(half.Sequences, x.Sequences[i])
		}
		if len(x.Vectors) > 0 {
			half.Vectors = append(half.Vectors, x.Vectors[i])
		}
	}
	return half
}
