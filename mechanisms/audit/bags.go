package audit

import (
	"context"
	"slices"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
	"mldpbench/internal/check"
	"mldpbench/mechanisms"
)

const (
	// groups are those whose bags are audited: words and their nearest ones, together
	// groupWords, because likely outputs of a bag are bags of words near to its own.
	groups     = 4
	groupWords = 5
	// mostBag keeps the number of bags of a group small.
	mostBag = 6
)

// Bags audits what a mechanism guarantees for bags of so many words; see mechanisms.Bags.
// A mechanism that guarantees nothing for them is not audited, and the report says why.
func Bags(ctx context.Context, env mechanisms.Environment, s mechanisms.Settings, o Options, size int) (Report, error) {
	err := check.Within("bag", float64(size), 1, mostBag)
	if err != nil {
		return Report{}, err
	}
	m, g, err := Open(env, s)
	if err != nil {
		return Report{}, err
	}
	if m == nil {
		return Report{Settings: s, Guarantee: g, Reason: "it replaces no word at these settings"}, nil
	}
	return bagsOf(ctx, m, env.Space, o, size)
}

// bagsOf audits bags of an instance.
func bagsOf(ctx context.Context, m *mechanisms.Mechanism, space *embeddings.Space, o Options, size int) (Report,
	error) {
	near := neighborsOf(space)
	offset := o.Seed.Derive("audit", "bags").Rand().Float64()
	var bags [][]embeddings.WordID
	for _, w := range look(space, min(groups, space.Len()), near, offset) {
		var group []embeddings.WordID
		for _, other := range nearest.Of(space).Words([]embeddings.WordID{w}, min(groupWords, space.Len())) {
			group = append(group, other.ID)
		}
		bags = append(bags, multisets(group, size)...)
	}
	of, inputs, err := mechanisms.Bags(m, space, bags)
	if err != nil {
		return Report{Settings: m.Settings(), Guarantee: m.Guarantee(), Reason: err.Error()}, nil
	}
	return Mechanism(ctx, of, inputs, o)
}

// multisets are the bags of so many of some words, each as often as wanted.
func multisets(words []embeddings.WordID, size int) (all [][]embeddings.WordID) {
	if size == 0 {
		return [][]embeddings.WordID{nil}
	}
	for i, w := range words {
		for _, rest := range multisets(words[i:], size-1) {
			all = append(all, append(slices.Clone(rest), w))
		}
	}
	return all
}
