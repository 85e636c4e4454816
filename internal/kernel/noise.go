package kernel

import (
	"math"
	"math/rand/v2"
)

// FillNormal draws independent standard normal numbers, one rng.NormFloat64
// each, in order: the same bits on every path and in any batches.
func FillNormal(dst []float32, rng *rand.Rand) {
	for i := range dst {
		dst[i] = float32(rng.NormFloat64())
	}
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

// Transform writes src·m to dst, where src and dst are rows of d numbers and m
// is d × d, row-major: dstⱼ = Σᵢ srcᵢ·mᵢⱼ, in the order of i and with the
// roundings of Axpy: the same bits on every path. dst must not overlap src.
func Transform(dst, src, m []float32, d int) {
	rows := len(src) / d
	checkMatrix("source", false, rows, d, src, d)
	checkMatrix("matrix", false, d, d, m, d)
	checkMatrix("destination", false, rows, d, dst, d)
	for r := range rows {
		out := dst[r*d : r*d+d]
		clear(out)
		for i, x := range src[r*d : r*d+d] {
			Axpy(x, m[i*d:i*d+d], out)
		}
	}
}
