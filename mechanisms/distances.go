package mechanisms

import (
	"mldpbench/embeddings"
	"mldpbench/internal/kernel"
)

// basis is what the scores of a selector start from: a row of distances from,
// or inner products with, one word. Rows are computed kernel.PairRows at a
// time, which reads the vectors once for all of them.
type basis struct {
	space  *embeddings.Space
	panels *kernel.Panels
	fill   func(dst []float64, queries ...[]float32)
}

type panelsKey struct{}

// distanceBasis packs the vectors of a space once.
func distanceBasis(s *embeddings.Space) *basis {
	v, _ := s.Derived(panelsKey{}, func() (any, error) { return kernel.PackPanels(s.Vectors, s.Dimension), nil }) // never fails
	p := v.(*kernel.Panels)
	return &basis{s, p, p.Distances}
}

// productBasis is that of a subset of the words.
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
