package mechanisms

import (
	"cmp"
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
)

func TestNewCMP(t *testing.T) {
	s := spacetest.Gaussian(t, 8, 6, 1, 20)
	if m, err := NewCMP(s, 3); err != nil || m.Settings().Mechanism != "cmp" || m.Settings().Variant != Proved {
		t.Errorf("built %v, %v", m, err)
	}
	if _, err := NewCMP(s, -1); err == nil {
		t.Error("ε = -1 is accepted")
	}
	if _, err := NewCMP(nil, 1); err == nil {
		t.Error("no space is accepted")
	}
}

// Every mechanism has a different place in figures.
func TestOrder(t *testing.T) {
	taken := map[int]string{}
	for _, d := range Definitions() {
		if d.Order == 0 || taken[d.Order] != "" {
			t.Errorf("%s: order %d is that of %q", d.Name, d.Order, taken[d.Order])
		}
		taken[d.Order] = d.Name
	}
	if !slices.IsSortedFunc(Ordered(), func(a, b Definition) int { return cmp.Compare(a.Order, b.Order) }) {
		t.Error("not in order")
	}
}
