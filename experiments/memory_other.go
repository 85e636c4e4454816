//go:build !unix

package experiments

import "math"

// peakMemoryMiB is not known on this system.
func peakMemoryMiB() float64 { return math.NaN() }
