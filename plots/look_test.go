package plots

import (
	"testing"

	"mldpbench/mechanisms"
	"mldpbench/results"
)

// Any two mechanisms differ in marker or dash; those of any place in the registry,
// and those without any, have a look.
func TestLooksApart(t *testing.T) {
	type look struct{ marker, dash int }
	seen := map[look]string{}
	for _, d := range mechanisms.Definitions() {
		for _, v := range d.Variants {
			own := LookOf(d.Name)
			at := look{own.Marker, (own.Dash + 3*variantRank(results.Place{Mechanism: d.Name, Variant: string(v)})) % len(dashes)}
			if other, taken := seen[at]; taken {
				t.Errorf("%s, %s and %s share marker and dash", d.Name, v, other)
			}
			seen[at] = d.Name + ", " + string(v)
		}
	}
	for order := range 12 {
		if l := lookOf(order); l.Marker < 0 || l.Marker >= len(shapes) || l.Dash < 0 {
			t.Errorf("order %d: %+v", order, l)
		}
	}
	if l := LookOf("mine"); l.Marker < 0 {
		t.Errorf("%+v", l)
	}
}
