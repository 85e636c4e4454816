package kernel

import "math"

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
