package mechanisms

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/embeddings/nearest"
)

type neighborKey struct{ count int }

// neighborTable returns the count nearest words of every word, nearest first,
// ties by the smaller id: the i-th word's begin at i·count. A word is usually
// in its own list; where many words share its vector it may be missing. Built
// once per space and count, on all cores.
func neighborTable(s *embeddings.Space, count int) []nearest.Neighbor {
	return embeddings.Once(s, neighborKey{count}, func() []nearest.Neighbor { return searchAll(s, count) })
}

func searchAll(s *embeddings.Space, count int) []nearest.Neighbor {
	index, d := nearest.Of(s), s.Dimension
	table := make([]nearest.Neighbor, s.Len()*count)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for start := 0; start < s.Len(); start += batchWords {
		end := min(start+batchWords, s.Len())
		g.Go(func() error {
			index.Search(table[start*count:end*count], s.Vectors[start*d:end*d], count)
			return nil
		})
	}
	_ = g.Wait() // a search cannot fail
	return table
}

// neighborsOf returns the count nearest words of a word: the word itself first,
// even where others share its vector, then by distance and id. The result is
// shorter where the space has fewer words.
func neighborsOf(s *embeddings.Space, word WordID, count int) []nearest.Neighbor {
	count = min(count, s.Len())
	row := slices.Clone(neighborTable(s, count)[int(word)*count:][:count])
	ownFirst(row, word)
	return row
}

// ownFirst moves a word to the front of those found near it. Where others with
// the same vector pushed it out, the last is dropped.
func ownFirst(found []nearest.Neighbor, word WordID) {
	own := slices.IndexFunc(found, func(c nearest.Neighbor) bool { return c.ID == word })
	if own < 0 {
		own = len(found) - 1
	}
	copy(found[1:own+1], found[:own])
	found[0] = nearest.Neighbor{ID: word}
}

// allWords returns the first n ids.
func allWords(n int) []WordID {
	all := make([]WordID, n)
	for i := range all {
		all[i] = WordID(i)
	}
	return all
}

// orderFrom returns all words by their distance from a word, the word itself
// first, ties by id, and their distances in that order.
func orderFrom(s *embeddings.Space, word WordID) ([]WordID, []float64) {
	row := make([]float64, s.Len())
	distancesFrom(row, s, word)
	order, own := allWords(s.Len()), row[word]
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

// firstFrom returns the first count words of orderFrom without sorting the rest.
func firstFrom(s *embeddings.Space, word WordID, count int) []WordID {
	row := make([]float64, s.Len())
	distancesFrom(row, s, word)
	row[word] = -1
	limit := math.Inf(1)
	if count < len(row) {
		limit = smallest(slices.Clone(row), count)
	}
	var first []WordID
	for y, d := range row {
		if d <= limit {
			first = append(first, WordID(y))
		}
	}
	slices.SortStableFunc(first, func(a, b WordID) int { return cmp.Compare(row[a], row[b]) })
	return slices.Clone(first[:min(count, len(first))])
}

// smallest returns the count-th smallest of x, 1 ≤ count ≤ len(x), and reorders
// x (Hoare's selection with a median of three as pivot).
func smallest(x []float64, count int) float64 {
	low, high, k := 0, len(x)-1, count-1
	for low < high {
		a, b, c := x[low], x[(low+high)/2], x[high]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := low, high
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for x[j] > pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			high = j
		case k >= i:
			low = i
		default:
			return x[k]
		}
	}
	return x[k]
}

// byFrequency returns all words of the space by falling count in the corpus.
// Ties, and words that never occur, are in the order of the space, which for
// most published embeddings is the order of frequency in their own corpus.
func byFrequency(env Environment) []WordID {
	counts := make([]int, env.Space.Len())
	for _, document := range env.Documents {
		for _, token := range document {
			if id := env.Space.Vocabulary.ID(token); id != embeddings.Unknown {
				counts[id]++
			}
		}
	}
	order := allWords(len(counts))
	slices.SortStableFunc(order, func(a, b WordID) int { return cmp.Compare(counts[b], counts[a]) })
	return order
}
