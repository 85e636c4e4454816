package models

import (
	"context"
	"errors"
	"slices"
	"testing"

	"mldpbench/stream"
)

// overfit is a model that is more confident on examples it has seen: members
// score high on their class, others low. Its scores are part of the examples.
type overfit struct{ classes int }

func (m overfit) Score(_ context.Context, x Examples) ([][]float64, error) {
	out := make([][]float64, x.Len())
	for i, v := range x.Vectors {
		out[i] = []float64{float64(v[0]), 1 - float64(v[0])}
		for len(out[i]) < m.classes {
			out[i] = append(out[i], 0)
		}
	}
	return out, nil
}
func (overfit) Fit(context.Context, Examples, Examples) (History, error) { return History{}, nil }

// confident draws top scores between low and high, of either class.
func confident(seed uint64, n int, low, high float64) Examples {
	rng := stream.FromUint64(seed).Rand()
	var x Examples
	for range n {
		p := low + (high-low)*rng.Float64()
		if rng.IntN(2) == 0 {
			p = 1 - p
		}
		x.Vectors = append(x.Vectors, []float32{float32(p)})
	}
	return x
}

// auc returns the share of pairs of a member and a non-member that are ordered
// correctly.
func auc(scores []float64, member []bool) float64 {
	var right, pairs float64
	for i, a := range scores {
		for j, b := range scores {
			if member[i] && !member[j] {
				pairs++
				if a > b {
					right++
				} else if a == b {
					right += 0.5
				}
			}
		}
	}
	return right / pairs
}

func TestMembershipInference(t *testing.T) {
	shadow := Membership{overfit{2}, confident(50, 300, 0.8, 1), confident(51, 300, 0.5, 0.9)}
	target := Membership{overfit{2}, confident(52, 150, 0.8, 1), confident(53, 200, 0.5, 0.9)}
	scores, member, err := MembershipInference(t.Context(), shadow, target, stream.FromUint64(54))
	if err != nil {
		t.Fatal(err)
	}
	if len(scores) != 350 || !member[0] || member[150] {
		t.Fatalf("%d scores", len(scores))
	}
	// The ideal attack orders by confidence: it is wrong only where both lie in
	// [0.8, 0.9], 1/2 · 1/4 of the pairs, and then half of the time.
	if a := auc(scores, member); a < 0.85 || a > 0.98 {
		t.Errorf("AUC %v, the ideal attack has 0.94", a)
	}
	again, _, err := MembershipInference(t.Context(), shadow, target, stream.FromUint64(54))
	if err != nil || !slices.Equal(scores, again) {
		t.Errorf("not reproducible: %v", err)
	}

	// Nothing can be learned: members and others have the same scores. With 400
	// documents the AUC has a standard deviation of 0.029; 0.15 is more than
	// five of them.
	blind := Membership{overfit{2}, confident(55, 200, 0.5, 1), confident(56, 200, 0.5, 1)}
	other := Membership{overfit{2}, confident(58, 200, 0.5, 1), confident(59, 200, 0.5, 1)}
	scores, member, err = MembershipInference(t.Context(), blind, other, stream.FromUint64(57))
	if err != nil {
		t.Fatal(err)
	}
	if a := auc(scores, member); a < 0.35 || a > 0.65 {
		t.Errorf("AUC %v without anything to learn", a)
	}
}

func TestMembershipInferenceRefusesBadInput(t *testing.T) {
	ctx := t.Context()
	x := confident(60, 20, 0.5, 1)
	good := Membership{overfit{2}, x, x}
	for want, pair := range map[string][2]Membership{
		"shadow model: needs members and others, has 20 and 0": {{overfit{2}, x, Examples{}}, good},
		"target model: needs members and others, has 0 and 20": {good, {overfit{2}, Examples{}, x}},
		"shadow model has 2 classes, target model 3":           {good, {overfit{3}, x, x}},
	} {
		if _, _, err := MembershipInference(ctx, pair[0], pair[1], stream.FromUint64(61)); err == nil ||
			err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	untrained, err := New("svm", Options{Classes: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := MembershipInference(ctx, Membership{untrained, x, x}, good, stream.FromUint64(62)); !errors.Is(err,
		errNotFitted) {
		t.Errorf("untrained shadow: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := MembershipInference(cancelled, good, good, stream.FromUint64(63)); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
