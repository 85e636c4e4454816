package models

import (
	"context"
	"fmt"

	"mldpbench/internal/list"
	"mldpbench/stream"
)

// Membership is what an attacker knows about a trained model: some documents it
// was trained on and some it was not.
type Membership struct {
	Model   Classifier
	Members Examples
	Others  Examples
}

// MembershipInference attacks target as in Carvalho et al. 2023, Appendix C
// (after Shokri et al. 2017 with one shadow model): a multilayer perceptron
// with two layers of 64 ReLU learns to tell members from others by the scores
// that the shadow model gives them, and is then applied to the scores of the
// target. It sees the scores only, not the label or the text.
//
// It returns, for the target's members and then its others, the attack's
// probability of membership and the truth: the input of an AUC, 0.5 for an
// attack that learns nothing. A fifth of the shadow's documents, drawn from
// seed, decides when training stops. Both models must be trained, on the same
// number of classes; the four sets should not overlap.
func MembershipInference(ctx context.Context, shadow, target Membership, seed stream.Seed) (scores []float64,
	member []bool, err error) {
	known, err := shadow.outputs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("shadow model: %w", err)
	}
	attacked, err := target.outputs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("target model: %w", err)
	}
	classes := len(known.Vectors[0])
	if n := len(attacked.Vectors[0]); n != classes {
		return nil, nil, fmt.Errorf("shadow model has %d classes, target model %d", classes, n)
	}
	seed = seed.Derive("membership")
	train, validation := known.SplitVectors(max(1, known.Len()/5), seed.Derive("split")) // there are two at least
	attack := newPerceptron([]int{64, 64}, 2, seed)
	if _, err := attack.Fit(ctx, train, validation); err != nil {
		return nil, nil, fmt.Errorf("attack: %w", err)
	}
	probabilities, err := attack.Score(ctx, attacked)
	if err != nil {
		return nil, nil, fmt.Errorf("attack: %w", err)
	}
	for i, p := range probabilities {
		scores = append(scores, p[1])
		member = append(member, attacked.Labels[i] == 1)
	}
	return scores, member, nil
}

// outputs returns the model's scores of members (label 1), then of others (0).
func (m Membership) outputs(ctx context.Context) (Examples, error) {
	var out Examples
	for i, x := range []Examples{m.Members, m.Others} {
		if x.Len() == 0 {
			return out, fmt.Errorf("needs members and others, has %d and %d", m.Members.Len(), m.Others.Len())
		}
		scores, err := m.Model.Score(ctx, x)
		if err != nil {
			return out, err
		}
		for _, s := range scores {
			out.Vectors = append(out.Vectors, list.Map(s, func(p float64) float32 {
				return float32(p)
			}))
			out.Labels = append(out.Labels, 1-i)
		}
	}
	return out, nil
}
