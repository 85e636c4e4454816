package compare

import (
	"math/rand/v2"
	"testing"

	"mldpbench/results"
)

// Two mechanisms whose order another axis turns round are reported as reversed,
// one that keeps its place is not.
func TestReversedOrder(t *testing.T) {
	t.Parallel()
	const other = "e_m_weighted"
	p := world{3, 4000, false, true, 0, 0.001}.draw(rand.New(rand.NewPCG(1, 2)),
		[]known{{"a", 20, 1}, {"b", 35, 1}, {"c", 60, 1}})
	for i := range p.Cells {
		c := &p.Cells[i]
		e := c.Get(results.EM)
		if c.Mechanism == "a" { // hides less on the other axis, so it keeps less at equal levels
			e *= 0.4
		}
		c.Set(other, results.Number(float64(e)))
	}
	main := Align(p, Question{}, 0.4)[0]
	r := main.Reorder(Align(p, Question{Privacy: other}, 0.28)[0])
	if r.Common != 3 || r.Told != 3 || r.Opposite != len(r.Reversed) || len(r.Reversed) != 1 ||
		r.Reversed[0][0].Name != "a" || r.Reversed[0][1].Name != "b" {
		t.Errorf("%d of %d told, %d opposite, %d reversed", r.Told, r.Common, r.Opposite, len(r.Reversed))
	}
	if r := main.Reorder(main); r.Opposite != 0 || r.Told != 3 {
		t.Errorf("with itself: %d opposite, %d told", r.Opposite, r.Told)
	}
	for _, axis := range results.Axes[:2] {
		if a := Fullest(p, axis); len(a) != 1 || a[0].Reached() < 2 {
			t.Errorf("%s: %d scenes", axis.Name, len(a))
		}
	}
}
