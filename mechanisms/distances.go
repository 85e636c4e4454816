package mechanisms

import (
	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// basis computes the input of a selector's scores: for one word, a row of its
// distances from, or inner products with, all words. kernel.PairRows rows are
// computed at a time, so the vectors are read once for all of them.
type basis struct {
	space  *embeddings.Space
	panels *kernel.Panels
	fill   func(dst []float64, queries ...[]float32)
}

type panelsKey struct{}

// panelsOf returns the packed vectors of a space, packed once per space.
func panelsOf(s *embeddings.Space) *kernel.Panels {
	return embeddings.Once(s, panelsKey{}, func() *kernel.Panels { return kernel.PackPanels(s.Vectors, s.Dimension) })
}

// distanceBasis is the basis of distances to all words.
func distanceBasis(s *embeddings.Space) *basis {
	p := panelsOf(s)
	return &basis{s, p, p.Distances}
}

// productBasis is the basis of inner products with a subset of the words.
func productBasis(s *embeddings.Space, words []WordID) *basis {
	var vectors []float32
	for _, w := range words {
		vectors = append(vectors, s.Vector(w)...)
	}
	p := kernel.PackPanels(vectors, s.Dimension)
	return &basis{s, p, p.InnerProducts}
}

// rows fills at most kernel.PairRows rows, cut from buffer if it is large
// enough; the i-th begins at i·stride.
func (b *basis) rows(buffer []float64, words ...WordID) (rows []float64, stride int) {
	stride = b.panels.Stride()
	rows = resize(buffer, kernel.PairRows*stride)
	queries := make([][]float32, len(words))
	for i, w := range words {
		queries[i] = b.space.Vector(w)
	}
	b.fill(rows, queries...)
	return rows, stride
}

// distancesFrom writes the Euclidean distance of every word of the space from
// one word to dst, bit for bit those of embeddings.Euclidean.
func distancesFrom(dst []float64, s *embeddings.Space, word WordID) {
	rows, _ := distanceBasis(s).rows(nil, word)
	copy(dst[:s.Len()], rows)
}
