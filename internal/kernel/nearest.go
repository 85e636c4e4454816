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
		s.atMost(len(masks), &row[0], &limit, &masks[0])
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
	for _, id := range ids {
		_ = vectors[int(id)*depth : (int(id)+1)*depth]
	}
	if s := simd(); s.distancesTo != nil {
		n := len(ids) &^ 7
		if n > 0 {
			s.distancesTo(n/8, depth, &query[0], &vectors[0], &ids[0], &dst[0])
		}
		if n < len(ids) {
			rest := [8]uint32{ids[n], ids[n], ids[n], ids[n], ids[n], ids[n], ids[n], ids[n]}
			sums := [8]float64{}
			copy(rest[:], ids[n:])
			s.distancesTo(1, depth, &query[0], &vectors[0], &rest[0], &sums[0])
			copy(dst[n:], sums[:])
		}
		return
	}
	for i, id := range ids {
		sum := 0.0
		for j, x := range vectors[int(id)*depth : (int(id)+1)*depth] {
			d := float64(query[j]) - float64(x)
			sum += float64(d * d)
		}
		dst[i] = math.Sqrt(sum)
	}
}

// SquaredDistance returns ‖a−b‖² accumulated in float64, in any order: its
// relative error is at most (len(a)+2)·2⁻⁵³.
func SquaredDistance(a, b []float32) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("kernel: distance of %d and %d numbers", len(a), len(b)))
	}
	sum := 0.0
	if s := simd(); s.squaredDistance != nil && len(a) >= 8 {
		n := len(a) &^ 7
		sum = s.squaredDistance(n, &a[0], &b[0])
		a = a[n:]
		b = b[n:]
	}
	for i, x := range a {
		d := float64(x) - float64(b[i])
		sum += d * d
	}
	return sum
}

// SetNorm scales v to the Euclidean length norm; a zero vector becomes norm
// along the first axis. Plain Go with a fixed order of operations: the same
// bits on every path.
func SetNorm(v []float32, norm float64) {
	// Four independent sums run in parallel.
	var s [4]float64
	i := 0
	for ; i+4 <= len(v); i += 4 {
		x := v[i : i+4 : i+4]
		s[0] += float64(float64(x[0]) * float64(x[0]))
		s[1] += float64(float64(x[1]) * float64(x[1]))
		s[2] += float64(float64(x[2]) * float64(x[2]))
		s[3] += float64(float64(x[3]) * float64(x[3]))
	}
	for ; i < len(v); i++ {
		s[0] += float64(float64(v[i]) * float64(v[i]))
	}
	length := math.Sqrt((s[0] + s[1]) + (s[2] + s[3]))
	if length == 0 {
		v[0] = float32(norm)
		return
	}
	scale := norm / length
	for i, x := range v {
		v[i] = float32(float64(x) * scale)
	}
}
