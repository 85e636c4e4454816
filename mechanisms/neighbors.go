package mechanisms

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

// neighborLists are the words nearest to each word of a space, nearest first,
// ties by the smaller id. They are searched for when needed and kept.
type neighborLists struct {
	space *embeddings.Space
	neighborsKey
	lists []atomic.Pointer[[]nearest.Neighbor] // by word
	every func()                               // makes all lists
}

// neighborsKey is what distinguishes the lists of a space.
type neighborsKey struct {
	count int // of a list
	// ownFirst puts the word itself first, also where others share its vector.
	ownFirst bool
}

// neighborsOf returns the lists of a space, of count words or all if it has
// fewer. They are shared by all mechanisms over it.
func neighborsOf(s *embeddings.Space, count int, ownFirst bool) *neighborLists {
	key := neighborsKey{min(count, s.Len()), ownFirst}
	return embeddings.Once(s, key, func() *neighborLists {
		n := &neighborLists{space: s, neighborsKey: key, lists: make([]atomic.Pointer[[]nearest.Neighbor], s.Len())}
		n.every = sync.OnceFunc(func() { n.search(s.Vocabulary.IDs()) })
		return n
	})
}

// of returns the list of a word, which must not be changed.
func (n *neighborLists) of(word WordID) []nearest.Neighbor {
	if n.lists[word].Load() == nil {
		n.search([]WordID{word})
	}
	return *n.lists[word].Load()
}

// search makes the lists of words that have none, which is several times faster
// together than one by one.
func (n *neighborLists) search(words []WordID) {
	var missing []WordID
	for _, w := range words {
		if n.lists[w].Load() == nil {
			missing = append(missing, w)
		}
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if n.count == 0 || len(missing) == 0 {
		for _, w := range missing {
			n.lists[w].Store(new([]nearest.Neighbor))
		}
		return
	}
	found := nearest.Of(n.space).Words(missing, n.count)
	for i, w := range missing {
		list := found[i*n.count : (i+1)*n.count : (i+1)*n.count]
		if n.ownFirst {
			moveToFront(list, w)
		}
		n.lists[w].Store(&list)
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
	order, own := s.Vocabulary.IDs(), row[word]
	row[word] = -1
	slices.SortFunc(order, func(a, b WordID) int {
		return cmp.Or(cmp.Compare(row[a], row[b]), cmp.Compare(a, b))
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
	slices.SortStableFunc(order, func(a, b WordID) int { return cmp.Compare(counts[v.Word(b)], counts[v.Word(a)]) })
	return order
}
