//go:build !unix

package engine

import "math"

// PeakMemoryMiB is not known on this system.
func PeakMemoryMiB() float64 { return math.NaN() }
