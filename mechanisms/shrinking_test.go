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

// On a line: from 0 the chain goes right to 3, then to −5 and its like, then
// to 10 and 20.
func TestChainByHand(t *testing.T) {
	s := spacetest.New(t, 1, []float32{0, 10, 1, -5, 3, 20, -5})
	// 0 →1 (w2) →3 (w4) →10 is 7 away, −5 is 8 (w1) →20 (w5) →−5 (w3, before w6).
	if got, want := chainOf(s, 0), []WordID{0, 2, 4, 1, 5, 3, 6}; !slices.Equal(got, want) {
		t.Errorf("chain %v, want %v", got, want)
	}
}

func TestGroupsByHand(t *testing.T) {
	s := spacetest.New(t, 1, []float32{0, 1, 2, 3, 10, 11, 2})
	order := []WordID{2, 0, 1, 3, 4, 5, 6}
	// 2 takes w6 (its like), then w1, one away, before w3, as far and later;
	// 0 takes w3 and 10; 11 is left alone.
	g := groupsOf(s, order, 3)
	want := [][]WordID{{2, 6, 1}, {0, 3, 4}, {5}}
	for i := range want {
		if len(g.members) != len(want) || !slices.Equal(g.members[i], want[i]) {
			t.Fatalf("groups %v, want %v", g.members, want)
		}
		for _, w := range want[i] {
			if g.of[w] != int32(i) {
				t.Errorf("word %d is in group %d, want %d", w, g.of[w], i)
			}
		}
	}
	if groupsOf(s, slices.Clone(order), 3) != g {
		t.Error("the same groups are built twice")
	}
	if other := groupsOf(s, []WordID{5, 0, 1, 2, 3, 4, 6}, 3); other == g || other.members[0][0] != 5 {
		t.Error("another order gives the same groups")
	}
	if all := groupsOf(s, order, 100); len(all.members) != 1 || len(all.members[0]) != 7 {
		t.Errorf("groups of 100 among 7 words: %v", all.members)
	}
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
	for _, k := range []int{1, 2, 20, 40} {
		for range 4 {
			wg.Go(func() { groupsOf(s, order, k) })
		}
		wg.Wait()
		got, want := groupsOf(s, order, k), plainGroups(s, order, k)
		if len(got.members) != len(want) {
			t.Fatalf("k = %d: %d groups, want %d", k, len(got.members), len(want))
		}
		for i := range want {
			if !slices.Equal(got.members[i], want[i]) {
				t.Fatalf("k = %d: group %d is %v, want %v", k, i, got.members[i], want[i])
			}
		}
	}
}
