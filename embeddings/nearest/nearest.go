// Package nearest answers exact nearest-neighbour queries over a space.
//
// Results are exact: they equal those of a float64 scan of all words ordered by
// (distance, word id), on every processor. Fast 8-bit arithmetic only rules
// words out, by bounds that include its rounding; the remaining words are measured again in float64. Nothing is pruned by geometry: at the
// noise of a private mechanism, trees, clusters and partial distances are not
// worth their cost.
package nearest

import (
	"fmt"
	"sync"

	"mldpbench/embeddings"
)

// Neighbor is a word and its Euclidean distance from the query, as
// embeddings.Euclidean gives it.
type Neighbor struct {
	ID       embeddings.WordID
	Distance float64
}

// Index searches one space. It is safe for concurrent use.
type Index struct {
	space   *embeddings.Space
	packed  *packed
	scratch sync.Pool // of *scratch
}

type indexKey struct{}

// Of returns the index of a space for the SIMD path in use at that time. It is
// built once and stored with the space.
func Of(s *embeddings.Space) *Index {
	return embeddings.Once(s, indexKey{}, func() *Index { return build(s) })
}

// Search writes the k nearest words of each query to dst, nearest first, ties
// by the smaller id. queries is len(dst)/k × Dimension, row-major. Where the
// space has fewer than k words, the rest of a row gets ID Unknown and distance
// +Inf. Batches of 1024 queries or more are fastest. It uses the calling
// goroutine only; callers may search in parallel.
func (x *Index) Search(dst []Neighbor, queries []float32, k int) {
	x.search(dst, queries, k, nil)
}

// SearchExcluding is Search over all words but excluded[i] for query i
// (Unknown excludes nothing).
func (x *Index) SearchExcluding(dst []Neighbor, queries []float32, k int, excluded []embeddings.WordID) {
	if excluded != nil && len(excluded)*k != len(dst) {
		panic(fmt.Sprintf("nearest: %d excluded words for %d results of %d each", len(excluded), len(dst), k))
	}
	x.search(dst, queries, k, excluded)
}

// Memory returns the memory of the index in bytes, not counting the space.
func (x *Index) Memory() int { return x.packed.memory() }
