package embeddings

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

// First returns a keep function for LoadOptions that accepts the first n words
// of those that keep accepts (all, if it is nil); vector files are ordered by
// frequency. n = 0 sets no limit. An accepted word is accepted again, so a file
// can be read twice. The function must not be used by two goroutines.
func First(n int, keep func(word string) bool) func(word string) bool {
	if n <= 0 {
		return keep
	}
	taken := map[string]bool{}
	return func(word string) bool {
		if taken[word] {
			return true
		}
		if len(taken) == n || keep != nil && !keep(word) {
			return false
		}
		taken[strings.Clone(word)] = true
		return true
	}
}

// wordMemory is the memory of a word in addition to its vector: the string, its
// bytes and its entry in the map of ids and, while loading, in that of lines.
const wordMemory = 150

// Memory estimates the memory in bytes of a space of so many words, alone and
// with the index for the nearest words (27% of the vectors with the 8-bit
// filter, as much again as the vectors without; embeddings/nearest) or the
// panels of the selection family (as much again).
func Memory(words, dimension int) (space, used int64) {
	vectors := 4 * int64(words) * int64(dimension)
	space = vectors + wordMemory*int64(words)
	return space, space + vectors
}

// checkMemory returns an error with the estimate where a space does not fit in
// free memory. It returns nil where free memory is not known.
func checkMemory(path string, words, dimension int, free int64) error {
	space, used := Memory(words, dimension)
	if free <= 0 || space <= free {
		return nil
	}
	const gib = 1 << 30
	fit := int(float64(words) * float64(free) / float64(used))
	return fmt.Errorf("%s: %d words × %d numbers take %.1f GiB, %.1f GiB in use, and %.1f GiB are free: load the "+
		"words of a data set or at most the first %d (--restrict, --vocabulary)",
		path, words, dimension, float64(space)/gib, float64(used)/gib, float64(free)/gib, max(1, fit/1000*1000))
}

// freeMemory returns the number of bytes that this process may still allocate,
// the smaller of what Linux has available and what its control group allows; 0
// where that is not known.
func freeMemory() int64 {
	free := int64(math.MaxInt64)
	if data, err := os.ReadFile("/proc/meminfo"); err == nil {
		if _, rest, ok := strings.Cut(string(data), "MemAvailable:"); ok {
			if kib, err := strconv.ParseInt(strings.Fields(rest + " x")[0], 10, 64); err == nil {
				free = kib << 10
			}
		}
	}
	limit, okLimit := readNumber("/sys/fs/cgroup/memory.max")
	current, okCurrent := readNumber("/sys/fs/cgroup/memory.current")
	if okLimit && okCurrent {
		// File pages cached by the group can be freed when needed.
		cached := int64(0)
		if data, err := os.ReadFile("/sys/fs/cgroup/memory.stat"); err == nil {
			if _, rest, ok := strings.Cut("\n"+string(data), "\nfile "); ok {
				cached, _ = strconv.ParseInt(strings.Fields(rest + " 0")[0], 10, 64)
			}
		}
		free = min(free, max(1, limit-current+cached))
	}
	if free == math.MaxInt64 {
		return 0
	}
	return free
}

// readNumber reads a file of one number; "max" is none.
func readNumber(path string) (int64, bool) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}
