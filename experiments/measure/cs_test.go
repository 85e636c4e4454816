package measure

import "testing"

// One document has a similarity but no interval: records cannot hold infinity.
func TestMeanOfOne(t *testing.T) {
	t.Parallel()
	if m := meanOf([]float64{70}); m.Value.Float() != 70 || m.Low.Known() || m.High.Known() || m.Whole != 1 {
		t.Errorf("%+v", m)
	}
	if m := meanOf([]float64{60, 80}); !(m.Low.Float() < 70 && m.High.Float() > 70) || m.Whole != 2 {
		t.Errorf("%+v", m)
	}
}
