//go:build unix

package engine

import (
	"math"
	"runtime"
	"syscall"
)

// PeakMemoryMiB returns the largest resident size of the process so far in MiB.
func PeakMemoryMiB() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return math.NaN()
	}
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / (1 << 20) // bytes
	}
	return float64(u.Maxrss) / 1024 // KiB
}
