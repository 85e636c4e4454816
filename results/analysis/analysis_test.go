package analysis

import (
	"math/rand/v2"
	"sync"
	"testing"

	"mldpbench/results/quantity"
)

// What is compared by one quantity at one level is worked out once, whoever asks, and by another one anew. "" and
// accuracy are one question, and so are a quantity and E_M where the levels are those of the quantity.
func TestComparedOnce(t *testing.T) {
	w := world{2, 50, false, true, 1, 0.01}
	p := w.draw(rand.New(rand.NewPCG(1, 2)), []known{{"a", 30, 1.5}, {"b", 60, 1.5}})
	a := Of(p, quantity.Levels{})
	first := a.Alignments("accuracy", 0.5)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			again := a.Alignments("", 0.5)
			if &again[0] != &first[0] {
				t.Error("accuracy at E_M = 0.5 was compared again, want the comparison that was made")
			}
		})
	}
	readers.Wait()
	other := a.Alignments("accuracy", 0.4)
	if first[0].At != 0.5 || other[0].At != 0.4 {
		t.Errorf("levels %g and %g, want 0.5 and 0.4: one comparison changed the other", first[0].At, other[0].At)
	}
	byAccuracy := Of(p, quantity.Levels{Quantity: "accuracy", At: []float64{70}})
	if got := byAccuracy.Alignments("", 70)[0].Use; got != "em" {
		t.Errorf("at equal accuracy mechanisms are compared by %s, want %s", got, "em")
	}
}
