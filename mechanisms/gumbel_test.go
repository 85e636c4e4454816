package mechanisms

import (
	"testing"

	"mldpbench/internal/spacetest"
)

// BenchmarkGumbelDistribution is one word of E_M by exact integration.
func BenchmarkGumbelDistribution(b *testing.B) {
	s := spacetest.Gaussian(b, 27000, 20, 1, 71)
	m := mustNew(b, environment(s), Settings{Mechanism: "gumbel", Variant: Released, Epsilon: 5}).(*truncatedGumbel)
	for b.Loop() {
		m.integrate(1)
	}
}
