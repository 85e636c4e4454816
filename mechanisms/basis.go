package mechanisms

import (
	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// Basis has a row of numbers for each word of a space, which scores start from:
// distances from, or inner products with, other words. It is made by Distances or
// InnerProducts. kernel.PairRows rows are computed at a time, so the vectors are
// read once for all of them.
type Basis struct {
	space  *embeddings.Space
	panels *kernel.Panels
	fill   func(dst []float64, queries ...[]float32)
}

type panelsKey struct{}

// panelsOf returns the packed vectors of a space, packed once per space.
func panelsOf(s *embeddings.Space) *kernel.Panels {
	return embeddings.Once(s, panelsKey{}, func() *kernel.Panels {
		return kernel.PackPanels(s.Vectors, s.Dimension)
	})
}

// Distances has the Euclidean distances of all words of a space, bit for bit those
// of embeddings.Euclidean.
func Distances(s *embeddings.Space) *Basis {
	p := panelsOf(s)
	return &Basis{s, p, p.Distances}
}

// InnerProducts has the inner products with some words of a space, in their order.
func InnerProducts(s *embeddings.Space, words []WordID) *Basis {
	vectors := make([]float32, 0, len(words)*s.Dimension)
	for _, w := range words {
		vectors = append(vectors, s.Vector(w)...)
	}
	p := kernel.PackPanels(vectors, s.Dimension)
	return &Basis{s, p, p.InnerProducts}
}

// columns is the length of a row.
func (b *Basis) columns() int { return b.panels.Len() }

// rows fills at most kernel.PairRows rows, cut from buffer if it is large
// enough; the i-th begins at i·stride.
func (b *Basis) rows(buffer []float64, words ...WordID) (rows []float64, stride int) {
	stride = b.panels.Stride()
	rows = resize(buffer, kernel.PairRows*stride)
	queries := make([][]float32, len(words))
	for i, w := range words {
		queries[i] = b.space.Vector(w)
	}
	b.fill(rows, queries...)
	return rows, stride
}

// row is that of one word.
func (b *Basis) row(word WordID) []float64 {
	rows, _ := b.rows(nil, word)
	return rows[:b.columns()]
}

// distancesFrom writes the distance of every word of the space from one word to
// dst.
func distancesFrom(dst []float64, s *embeddings.Space, word WordID) {
	copy(dst, Distances(s).row(word))
}
