package engine

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// Machine is the platform: operating system, architecture, cores.
var Machine = sync.OnceValue(func() string {
	return runtime.GOOS + "/" + runtime.GOARCH + "/" + strconv.Itoa(runtime.NumCPU()) + " cores"
})

// availableMemory returns the free memory of the machine in bytes; 4 GiB where
// it is not known.
func availableMemory() int64 {
	const fallback = 4 << 30
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return fallback
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "MemAvailable:"); ok {
			if kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10,
				64); err == nil {
				return kib << 10
			}
		}
	}
	return fallback
}
