package results

import (
	"math"
	"testing"
)

func TestChanges(t *testing.T) {
	derived := syntheticStudy(1, 2, 0)
	if c := Changes(derived, derived); len(c) != 0 {
		t.Errorf("nothing changed, yet %+v", c)
	}
	tampered := append([]Record(nil), derived...)
	tampered[0].Accuracy += 5
	tampered[9].PUC50 = Missing
	again, err := Derive(tampered)
	if err != nil {
		t.Fatal(err)
	}
	got := Changes(tampered, again)
	if len(got) != 2 || got[0].Column != "accuracy" || got[0].Records != 1 || math.Abs(got[0].Largest-5) > 1e-9 ||
		got[1].Column != "puc_50" || !math.IsInf(got[1].Largest, 1) {
		t.Errorf("changes %+v", got)
	}
}
