package metrics

import "testing"

func TestLayouts(t *testing.T) {
	var l Layouts
	if a, b := l.Alone(); a != 0 || b != 0 || l.Length(0.9) != 1 {
		t.Error("no texts are told apart")
	}
	for i, words := range []int{0, 3, 3, 4, 5, 5, 5, 6, 7, 90} {
		l.Add(uint64(i/2), words)
	}
	if l.Add(9, 0); l.Texts != 11 {
		t.Error(l.Texts)
	}
	if a, b := l.Alone(); a != 1./11 || b != 4./11 {
		t.Errorf("%v, %v", a, b)
	}
	for share, want := range map[float64]int{0.01: 1, 0.18: 1, 0.19: 3, 0.5: 5, 0.9: 7, 1: 90} {
		if got := l.Length(share); got != want {
			t.Errorf("%v: %d, want %d", share, got, want)
		}
	}
}
