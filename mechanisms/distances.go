package mechanisms

import (
	"math"

	"mldpbench/embeddings"
)

// distancesFrom writes the Euclidean distance of every word of the space from
// one word to dst, bit for bit those of embeddings.Euclidean: four words are
// summed side by side, each in index order, because one sum alone waits for
// its own last addition.
func distancesFrom(dst []float64, s *embeddings.Space, word WordID) {
	q, d := s.Vector(word), s.Dimension
	id := 0
	for ; id+4 <= len(dst); id += 4 {
		rows := s.Vectors[id*d : (id+4)*d]
		r0, r1, r2, r3 := rows[:d], rows[d:][:d], rows[2*d:][:d], rows[3*d:][:d]
		var s0, s1, s2, s3 float64
		for i, x := range q {
			x := float64(x)
			d0, d1, d2, d3 := x-float64(r0[i]), x-float64(r1[i]), x-float64(r2[i]), x-float64(r3[i])
			s0 += float64(d0 * d0)
			s1 += float64(d1 * d1)
			s2 += float64(d2 * d2)
			s3 += float64(d3 * d3)
		}
		dst[id], dst[id+1], dst[id+2], dst[id+3] = math.Sqrt(s0), math.Sqrt(s1), math.Sqrt(s2), math.Sqrt(s3)
	}
	for ; id < len(dst); id++ {
		dst[id] = embeddings.Euclidean(q, s.Vector(WordID(id)))
	}
}
