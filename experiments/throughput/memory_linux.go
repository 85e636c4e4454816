package throughput

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"mldpbench/results"
)

// resetPeakMemory resets the kernel's high-water mark of resident memory
// (proc(5), clear_refs). Where that is not allowed the mark is that of the
// whole process: too high, never too low.
func resetPeakMemory() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// peakMemoryMiB returns the high-water mark since resetPeakMemory in MiB.
func peakMemoryMiB() results.Float {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return results.Missing
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "VmHWM:"); ok {
			kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			if err == nil {
				return results.Float(kib / 1024)
			}
		}
	}
	return results.Missing
}
