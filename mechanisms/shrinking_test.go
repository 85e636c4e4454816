package mechanisms

import (
	"math"
	"slices"
	"sync"
	"testing"

	"mldpbench/embeddings"
	"mldpbench/internal/spacetest"
)

// plainChain is the greedy chain by its definition.
func plainChain(s *embeddings.Space, start WordID) []WordID {
	chain := []WordID{start}
	for len(chain) < s.Len() {
		best, distance := WordID(-1), math.Inf(1)
		for y := range WordID(s.Len()) {
			if d := s.Distance(chain[len(chain)-1], y); d < distance && !slices.Contains(chain, y) {
				best, distance = y, d
			}
		}
		chain = append(chain, best)
	}
	return chain
}

// plainGroups is the greedy division by its definition.
func plainGroups(s *embeddings.Space, order []WordID, k int) [][]WordID {
	var out [][]WordID
	taken := make([]bool, s.Len())
	for _, seed := range order {
		if taken[seed] {
			continue
		}
		group := []WordID{}
		for next := seed; next >= 0 && len(group) < k; {
			taken[next] = true
			group = append(group, next)
			distance := math.Inf(1)
			next = -1
			for y := range WordID(s.Len()) {
				if d := s.Distance(seed, y); d < distance && !taken[y] {
					next, distance = y, d
				}
			}
		}
		out = append(out, group)
	}
	return out
}

// Tables, rebuilding and scans must not change which words are nearest. Some
// words share a vector.
func TestChainsAndGroupsAreGreedy(t *testing.T) {
	t.Parallel()
	s := spacetest.Gaussian(t, 1500, 6, 1, 60)
	for i := 0; i < 300; i += 3 {
		copy(s.Vector(WordID(i)), s.Vector(WordID(i+700)))
	}
	for i := range WordID(60) { // more words with one vector than a table lists
		copy(s.Vector(1400+i), s.Vector(1399))
	}
	var wg sync.WaitGroup
	for _, start := range []WordID{0, 1399} {
		for range 4 { // concurrently, once
			wg.Go(func() { chainOf(s, start) })
		}
		wg.Wait()
		if !slices.Equal(chainOf(s, start), plainChain(s, start)) {
			t.Errorf("the chain from %d is not greedy", start)
		}
	}
	order := byFrequency(Environment{Space: s, Documents: [][]string{{"w5", "w1400", "w5", "w7"}}})
	if order[0] != 5 || order[1] != 7 || order[2] != 1400 || order[3] != 0 {
		t.Errorf("order %v…", order[:4])
	}
	for _, k := range []int{1, 2, 20, 40, 2000} {
		for range 4 {
			wg.Go(func() { groupsOf(s, order, k) })
		}
		wg.Wait()
		got := groupsOf(s, order, k)
		if want := plainGroups(s, order, k); !slices.EqualFunc(got.members, want, slices.Equal[[]WordID]) {
			t.Fatalf("k = %d: groups %v, want %v", k, got.members, want)
		}
		for i, members := range got.members {
			if slices.ContainsFunc(members, func(w WordID) bool { return got.of[w] != int32(i) }) {
				t.Errorf("k = %d: a word of group %d is in another", k, i)
			}
		}
		slices.Reverse(order)
		if groupsOf(s, slices.Clone(order), k) == got {
			t.Error("another order gives the same groups")
		}
		slices.Reverse(order)
		if groupsOf(s, slices.Clone(order), k) != got {
			t.Error("the same groups are built twice")
		}
	}
}
