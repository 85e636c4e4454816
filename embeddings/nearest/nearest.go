// Package nearest answers exact nearest-neighbour queries over a space.
//
// Results are exact: they equal those of a float64 scan of all words ordered by
// (distance, word id), on every processor. Fast 8-bit arithmetic only rules
// words out, by bounds that include its rounding; the remaining words are
// measured again in float64. Nothing is pruned by geometry: at the noise of a
// private mechanism, trees, clusters and partial distances are not worth their
// cost.
package nearest

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
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
	panels  func() *packed // made or opened once
	spared  atomic.Int64   // queries that may still be answered without panels
	scratch sync.Pool      // of *scratch
}

type indexKey struct{}

// Of returns the index of a space for the SIMD path in use at that time. There is one for each
// space. Its panels are made when the first search wants them, or lie beside the space's file.
func Of(s *embeddings.Space) *Index {
	return embeddings.Once(s, indexKey{}, func() *Index { return newIndex(s) })
}

// fewQueries is how many queries are answered by a scan of all vectors before panels are made. Panels cost as much as
// about 48 such queries (27,000 and 85,000 words × 100, two cores of an EPYC; fewer where the scan is slower), so that
// the work is at most twice the least, whatever number is asked at last.
const fewQueries = 32

// newIndex is the index of a space; it packs the vectors when a search first needs that.
func newIndex(s *embeddings.Space) *Index {
	geometry := kernel.ScanGeometry() // now: the path may change later
	x := &Index{
		space: s,
		panels: sync.OnceValue(func() *packed {
			return panelsOf(s, geometry)
		}),
	}
	if s.File() == "" {
		x.spared.Store(fewQueries)
	}
	x.scratch.New = func() any { return new(scratch) }
	return x
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

// Words returns what Search finds for the vectors of words of the space, k for
// each. It uses all cores.
func (x *Index) Words(words []embeddings.WordID, k int) []Neighbor {
	found := make([]Neighbor, len(words)*k)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(words); from += batch {
		to := min(len(words), from+batch)
		g.Go(func() error {
			queries := make([]float32, 0, (to-from)*x.space.Dimension)
			for _, w := range words[from:to] {
				queries = append(queries, x.space.Vector(w)...)
			}
			x.Search(found[from*k:to*k], queries, k)
			return nil
		})
	}
	_ = g.Wait() // a search cannot fail
	return found
}

// Others returns the nearest other word of each of some words of the space, ties
// by the smaller id; where the space has one word only, Unknown at distance +Inf.
// It uses all cores. Nothing is kept: words may be those of a private text.
func (x *Index) Others(words []embeddings.WordID) []Neighbor {
	two := x.Words(words, 2)
	others := make([]Neighbor, len(words))
	for i, w := range words {
		others[i] = two[2*i]
		if others[i].ID == w {
			others[i] = two[2*i+1]
		}
	}
	return others
}
