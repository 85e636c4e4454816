package mechanisms

import (
	"fmt"

	"mldpbench/embeddings"
)

// groups is a division of a vocabulary into groups.
type groups struct {
	members [][]WordID
	of      []int32 // by word: index in members
}

// guarantee is that of the exponential mechanism within each group.
func (g *groups) guarantee(epsilon float64) Guarantee {
	out := Guarantee{
		Metric:   "discrete",
		Epsilon:  epsilon,
		Distance: Discrete,
		Reason: "exponential mechanism over the candidates of a group with a utility in [0, 1]; " +
			"the groups are taken as public",
	}
	if len(g.members) > 1 {
		out.Scope = fmt.Sprintf("between words of one of its %d groups, none between groups", len(g.members))
		out.Covers = func(a, b WordID) bool { return g.of[a] == g.of[b] }
	}
	return out
}

type groupsKey struct {
	k     int
	order string
}

// groupsOf builds the groups of k words once per space, k and order.
func groupsOf(s *embeddings.Space, order []WordID, k int) *groups {
	return embeddings.Once(s, groupsKey{k, fmt.Sprint(order)}, func() *groups {
		return buildGroups(s, order, k)
	})
}

// buildGroups is the greedy division of the source: n/k scans of the remaining
// words.
func buildGroups(s *embeddings.Space, order []WordID, k int) *groups {
	walk := newShrinking(s, 0)
	g := &groups{of: make([]int32, s.Len())}
	for _, seed := range order {
		if walk.gone[seed] {
			continue
		}
		members := walk.takeNearest(seed, k)
		for _, w := range members {
			g.of[w] = int32(len(g.members))
		}
		g.members = append(g.members, members)
	}
	return g
}
