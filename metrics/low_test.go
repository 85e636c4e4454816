package metrics

import (
	"slices"
	"testing"

	"mldpbench/internal/list"
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
	// Which of equally rare words are taken depends on the seed.
	if other := LeastFrequent(documents, 1, stream.FromUint64(1)); slices.Equal(other, got[:1]) {
		t.Errorf("another seed takes %q, too", other)
	}
}

func TestPresent(t *testing.T) {
	if got := Present([]string{"a", "b", "c"}, [][]string{{"b", "b"}, {"x", "c"}}); !slices.Equal(got,
		[]bool{false, true, true}) {
		t.Errorf("Present = %v", got)
	}
}

// countOverlap counts what Overlap finds.
func countOverlap(before, after [][]string, k int) (shared, total int) {
	words, both := Overlap(before, after, k)
	return list.Count(both, func(yes bool) bool { return yes }), len(words)
}

// Counted by hand. Before: a 1, c 1, d 1, b 2, the 3, equals in order of
// occurrence. After: x 1, a 1, the 2, d 2, c 2.
func TestLowOverlap(t *testing.T) {
	before := [][]string{{"the", "a", "b", "the"}, {"c", "b", "d", "the"}}
	after := [][]string{{"the", "d", "c", "x"}, {"d", "c", "a", "the"}}
	for _, c := range []struct{ k, shared, total int }{
		{2, 1, 2},    // {a c} and {x a}
		{3, 1, 3},    // {a c d} and {x a the}
		{4, 2, 4},    // {a c d b} and {x a the d}
		{1000, 4, 5}, // all words: fewer than asked for; b is gone
		{0, 0, 0},
	} {
		if shared, total := countOverlap(before, after, c.k); shared != c.shared || total != c.total {
			t.Errorf("k = %d: %d of %d, want %d of %d", c.k, shared, total, c.shared, c.total)
		}
	}
	if shared, total := countOverlap(before, before, 3); shared != 3 || total != 3 {
		t.Errorf("unchanged text: %d of %d", shared, total)
	}
	if shared, total := countOverlap(nil, after, 3); shared != 0 || total != 0 {
		t.Errorf("no text: %d of %d", shared, total)
	}
}

// Ties go by first occurrence, not by name: Python's sorted(Counter("zyxw"),
// key=…) leaves z y x w, of which the first two are z, y.
func TestOverlapTiesByOccurrence(t *testing.T) {
	before, after := [][]string{{"z", "y", "x", "w"}}, [][]string{{"x", "w", "z", "y"}}
	if shared, _ := countOverlap(before, after, 2); shared != 0 { // {z y} and {x w}
		t.Errorf("%d shared, want none", shared)
	}
	if shared, _ := countOverlap(before, before, 2); shared != 2 {
		t.Errorf("%d shared, want 2", shared)
	}
}

func TestCut(t *testing.T) {
	documents := [][]string{{"a", "b", "c"}, {"d"}, nil}
	got := Cut(documents, 2)
	if len(got) != 3 || !slices.Equal(got[0], []string{"a", "b"}) || !slices.Equal(got[1], []string{"d"}) ||
		len(got[2]) != 0 || cap(got[0]) != 2 || len(documents[0]) != 3 {
		t.Errorf("cut: %q", got)
	}
}
