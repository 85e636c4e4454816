package nearest

import (
	"math"

	"mldpbench/embeddings"
)

// reference is the specification: a float64 scan in id order.
func (x *Index) reference(dst []Neighbor, queries []float32, k int, excluded []embeddings.WordID) {
	d := x.space.Dimension
	for q := 0; q*k < len(dst); q++ {
		row := dst[q*k : q*k+k]
		for i := range row {
			row[i] = Neighbor{embeddings.Unknown, math.Inf(1)}
		}
		query := queries[q*d : q*d+d]
		for id := range embeddings.WordID(x.space.Len()) {
			if excluded == nil || excluded[q] != id {
				insert(row, Neighbor{id, embeddings.Euclidean(query, x.space.Vector(id))})
			}
		}
	}
}
