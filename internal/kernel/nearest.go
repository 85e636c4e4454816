package kernel

import (
	"fmt"
	"math"
)

// Fold writes to dst[j] the least of row[j], row[j+len(dst)], row[j+2·len(dst)]
// and so on, +Inf where there is none. Its k-th smallest number is at least
// that of row, and close to it where dst is several times longer than k.
// A NaN may count as any number.
func Fold(dst, row []float32) {
	first := copy(dst, row)
	for j := first; j < len(dst); j++ {
		dst[j] = float32(math.Inf(1))
	}
	for row = row[first:]; len(row) > 0; row = row[min(len(dst), len(row)):] {
		part := row[:min(len(dst), len(row))]
		s := simd()
		n := s.whole(len(part))
		if n > 0 {
			s.fold(n, &dst[0], &part[0])
		}
		for j, x := range part[n:] {
			dst[n+j] = min(dst[n+j], x)
		}
	}
}

// AtMost sets bit i mod 32 of masks[i/32] where row[i] ≤ limit and clears the
// others. len(row) is 32·len(masks).
func AtMost(masks []uint32, row []float32, limit float32) {
	if len(row) != 32*len(masks) {
		panic(fmt.Sprintf("kernel: %d masks for %d numbers", len(masks), len(row)))
	}
	if s := simd(); s.lanes > 0 && len(masks) > 0 {
		s.atMost(len(masks), &row[0], limit, &masks[0])
		return
	}
	for i := range masks {
		var m uint32
		for j, x := range row[32*i : 32*i+32] {
			if x <= limit {
				m |= 1 << j
			}
		}
		masks[i] = m
	}
}

// DistancesTo writes to dst[i] the Euclidean distance between a query and row
// ids[i] of vectors, which have the query's length: the numbers of Distances,
// bit for bit, on every path.
func DistancesTo(dst []float64, query, vectors []float32, ids []uint32) {
	depth := len(query)
	if len(dst) != len(ids) {
		panic(fmt.Sprintf("kernel: %d distances for %d vectors", len(dst), len(ids)))
	}
	if depth == 0 {
		clear(dst)
		return
	}
	row := func(i int) []float32 { return vectors[int(ids[i])*depth:][:depth] }
	i := 0
	for ; i+4 <= len(ids); i += 4 { // four sums grow side by side
		a, b, c, d := row(i), row(i+1), row(i+2), row(i+3)
		var s, t, u, v float64
		for j, x := range query {
			x, a, b, c, d := float64(x), float64(a[j]), float64(b[j]), float64(c[j]), float64(d[j])
			s += float64((x - a) * (x - a))
			t += float64((x - b) * (x - b))
			u += float64((x - c) * (x - c))
			v += float64((x - d) * (x - d))
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = math.Sqrt(s), math.Sqrt(t), math.Sqrt(u), math.Sqrt(v)
	}
	for ; i < len(ids); i++ {
		sum := 0.0
		for j, x := range row(i) {
			d := float64(query[j]) - float64(x)
			sum += float64(d * d)
		}
		dst[i] = math.Sqrt(sum)
	}
}
