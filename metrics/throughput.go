package metrics

import "math"

// WordsPerSecond returns the throughput of privatising on one core, NaN when no
// time was measured.
func WordsPerSecond(tokens int, seconds float64) float64 {
	if !(seconds > 0) {
		return math.NaN()
	}
	return float64(tokens) / seconds
}
