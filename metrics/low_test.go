package metrics

import (
	"slices"
	"testing"

	"mldpbench/stream"
)

func TestLeastFrequent(t *testing.T) {
	documents := [][]string{{"common", "common", "twice", "p", "q"}, {"common", "twice", "r", "s"}}
	seed := stream.FromUint64(3)
	got := LeastFrequent(documents, 5, seed)
	if len(got) != 5 || got[4] != "twice" {
		t.Fatalf("LeastFrequent = %q, want four words that occur once, then twice", got)
	}
	slices.Reverse(documents)
	for range 20 { // map order changes from run to run
		if again := LeastFrequent(documents, 5, seed); !slices.Equal(again, got) {
			t.Fatalf("order of documents or maps reaches the result: %q and %q", again, got)
		}
	}
	if all := LeastFrequent(documents, 1000, seed); len(all) != 6 {
		t.Errorf("%d words, want all 6", len(all))
	}
}

// Which of 40 equally rare words are taken must depend on the seed: two seeds
// agree on 20 of 40 with probability 1/C(40,20) < 1e-10.
func TestLeastFrequentTiesAreSeeded(t *testing.T) {
	var d []string
	for i := range 40 {
		d = append(d, string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	a := slices.Sorted(slices.Values(LeastFrequent([][]string{d}, 20, stream.FromUint64(1))))
	b := slices.Sorted(slices.Values(LeastFrequent([][]string{d}, 20, stream.FromUint64(2))))
	if slices.Equal(a, b) {
		t.Error("the seed has no effect on ties")
	}
}

func TestCountPresent(t *testing.T) {
	if got := CountPresent([]string{"a", "b", "c"}, [][]string{{"b", "b"}, {"x", "c"}}); got != 2 {
		t.Errorf("CountPresent = %d, want 2", got)
	}
}
