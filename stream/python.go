package stream

import (
	"fmt"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// PythonSample returns the k numbers below n that Python's
//
//	random.seed(seed); random.sample(range(n), k)
//
// returns (CPython 3, any version), in its order: words drawn by a study whose
// code states its seed can be drawn again. The generator is the Mersenne
// Twister seeded by an array of the 32-bit digits of the seed (Matsumoto &
// Nishimura 1998). It is for this purpose only: nothing private is drawn by it.
func PythonSample(seed uint64, n, k int) ([]int, error) {
	if k < 0 || k > n || n > 1<<31 {
		return nil, fmt.Errorf("a sample of %d of %d: must be of at least 0 and at most all, of at most 2³¹", k, n)
	}
	digits := []uint32{uint32(seed)}
	if high := uint32(seed >> 32); high > 0 {
		digits = append(digits, high)
	}
	source := prng.NewMT19937()
	source.SeedFromKeys(digits)
	below := func(n int) int {
		width := bits.Len(uint(n))
		for {
			if r := int(source.Uint32() >> (32 - width)); r < n {
				return r
			}
		}
	}
	sample := make([]int, k)
	// A set of k numbers takes less memory than a list of all n from this n on:
	// Python then draws again what it had, and otherwise removes what it drew.
	setFrom := 21
	if k > 5 {
		size := 1
		for size < 3*k {
			size *= 4
		}
		setFrom += size
	}
	if n <= setFrom {
		pool := make([]int, n)
		for i := range pool {
			pool[i] = i
		}
		for i := range sample {
			j := below(n - i)
			sample[i], pool[j] = pool[j], pool[n-i-1]
		}
		return sample, nil
	}
	drawn := make(map[int]bool, k)
	for i := range sample {
		j := below(n)
		for drawn[j] {
			j = below(n)
		}
		drawn[j], sample[i] = true, j
	}
	return sample, nil
}
