package metrics

import "testing"

// Relevant documents at the 2nd and the 4th place: AP (1/2 + 2/4)/2, RR 1/2; two more
// that are not found halve AP. Ties are in order, and the own document is not ranked.
func TestPrecision(t *testing.T) {
	scores := []float64{0.9, 0.7, 0.8, 0.2, 0, 0, 1}
	ap, rr := Precision(scores, []int{3, 2}, 6)
	near(t, "AP", ap, 0.5, 0)
	near(t, "RR", rr, 0.5, 0)
	ap, _ = Precision(scores, []int{3, 2, 4, 5}, 6)
	near(t, "AP of four", ap, 0.25, 0)
	_, rr = Precision([]float64{0.5, 0.5, 0.5}, []int{2}, 0)
	near(t, "RR of a tie", rr, 0.5, 0)
	if ap, rr = Precision([]float64{0, 0}, []int{1}, 0); ap != 0 || rr != 0 {
		t.Error("nothing was found", ap, rr)
	}
}
