//go:build !linux

package throughput

import "mldpbench/results"

// Other systems have no high-water mark that can be reset.

func resetPeakMemory() {}

func peakMemoryMiB() results.Float { return results.Missing }
