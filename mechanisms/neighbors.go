package mechanisms

import (
	"cmp"
	"slices"
	"sync/atomic"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// neighborLists are the words nearest to each word of a space, nearest first,
// ties by the smaller id. They are searched for when needed, as many as needed, and kept.
type neighborLists struct {
	space *embeddings.Space
	ties  ties
	lists []atomic.Pointer[[]nearest.Neighbor] // by word; they only grow
}

// ties is the place of a word among those that share its vector.
type ties int

const (
	ownFirst ties = iota // before them, in its own list
	byID
)

// neighborsOf returns the lists of a space. They are shared by all mechanisms over it.
func neighborsOf(s *embeddings.Space, t ties) *neighborLists {
	return embeddings.Once(s, t, func() *neighborLists {
		return &neighborLists{s, t, make([]atomic.Pointer[[]nearest.Neighbor], s.Len())}
	})
}

// of returns so many neighbours of a word, or all; they must not be changed.
func (n *neighborLists) of(word WordID, count int) []nearest.Neighbor {
	list := n.lists[word].Load()
	count = min(count, n.space.Len())
	if list == nil || len(*list) < count {
		n.search([]WordID{word}, count)
		list = n.lists[word].Load()
	}
	return (*list)[:count]
}

// search makes the lists of words that have none, or too short ones, which is several
// times faster together than one by one.
func (n *neighborLists) search(words []WordID, count int) {
	var missing []WordID
	count = min(count, n.space.Len())
	for _, w := range words {
		if l := n.lists[w].Load(); l == nil || len(*l) < count {
			missing = append(missing, w)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	var found []nearest.Neighbor
	if count > 0 {
		found = nearest.Of(n.space).Words(missing, count)
	}
	for i, w := range missing {
		list := found[i*count : (i+1)*count : (i+1)*count]
		if n.ties == ownFirst && count > 0 {
			moveToFront(list, w)
		}
		for old := n.lists[w].Load(); old == nil || len(*old) < count; old = n.lists[w].Load() {
			n.lists[w].CompareAndSwap(old, &list) // another goroutine may have made a longer one
		}
	}
}

// moveToFront moves a word to the front of those found near it. Where others
// with the same vector pushed it out, the last is dropped.
func moveToFront(found []nearest.Neighbor, word WordID) {
	own := slices.IndexFunc(found, func(c nearest.Neighbor) bool { return c.ID == word })
	if own < 0 {
		own = len(found) - 1
	}
	copy(found[1:own+1], found[:own])
	found[0] = nearest.Neighbor{ID: word}
}

// orderFrom returns all words by their distance from a word, the word itself
// first, ties by id, and their distances in that order.
func orderFrom(s *embeddings.Space, word WordID) ([]WordID, []float64) {
	row := make([]float64, s.Len())
	distancesFrom(row, s, word)
	order := s.Vocabulary.IDs()
	own := row[word]
	row[word] = -1
	slices.SortFunc(order, func(a, b WordID) int {
		if row[a] != row[b] {
			return cmp.Compare(row[a], row[b])
		}
		return cmp.Compare(a, b)
	})
	row[word] = own
	sorted := make([]float64, len(order))
	for i, w := range order {
		sorted[i] = row[w]
	}
	return order, sorted
}

// byFrequency returns all words of the space by falling count in the corpus.
// Ties, and words that never occur, are in the order of the space, which for
// most published embeddings is the order of frequency in their own corpus.
func byFrequency(env Environment) []WordID {
	_, counts := embeddings.CountWords(env.Documents)
	v := env.Space.Vocabulary
	order := v.IDs()
	slices.SortStableFunc(order, func(a, b WordID) int {
		return cmp.Compare(counts[v.Word(b)], counts[v.Word(a)])
	})
	return order
}
