package channel

import (
	"math"
	"math/rand/v2"
	"testing"

	"mldpbench/stream"
)

func testRand(label string) *rand.Rand { return stream.FromUint64(1).Derive(label).Rand() }

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, tolerance)
	}
}
