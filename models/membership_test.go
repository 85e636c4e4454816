package models

import (
	"context"
	"slices"
	"testing"

	"mldpbench/metrics"
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

// The ideal attack orders by confidence: it is wrong only where both lie in
// [0.8, 0.9], 1/2 · 1/4 of the pairs, and then half of the time: its AUC is 0.94. Where
// members and others have the same scores nothing can be learned; with 400 documents
// the AUC has a standard deviation of 0.029, and 0.15 is more than five of them.
func TestMembershipInference(t *testing.T) {
	of := func(members, others Examples) Membership { return Membership{overfit{2}, members, others} }
	for name, c := range map[string]struct {
		shadow, target Membership
		low, high      float64
	}{
		"overfit": {of(confident(50, 300, 0.8, 1), confident(51, 300, 0.5, 0.9)),
			of(confident(52, 150, 0.8, 1), confident(53, 200, 0.5, 0.9)), 0.85, 0.98},
		"blind": {of(confident(55, 200, 0.5, 1), confident(56, 200, 0.5, 1)),
			of(confident(58, 200, 0.5, 1), confident(59, 200, 0.5, 1)), 0.35, 0.65},
	} {
		scores, member, err := MembershipInference(t.Context(), c.shadow, c.target, stream.FromUint64(54))
		if err != nil {
			t.Fatal(err)
		}
		if n := c.target.Members.Len(); len(scores) != n+200 || !member[0] || member[n] {
			t.Fatalf("%s: %d scores", name, len(scores))
		}
		if a := metrics.AUC(scores, member); !(a >= c.low && a <= c.high) {
			t.Errorf("%s: AUC %v, want %v to %v", name, a, c.low, c.high)
		}
		again, _, err := MembershipInference(t.Context(), c.shadow, c.target, stream.FromUint64(54))
		if err != nil || !slices.Equal(scores, again) {
			t.Errorf("%s: not reproducible: %v", name, err)
		}
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
}
