package mechanisms

import (
	"cmp"
	"slices"
	"testing"
)

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
