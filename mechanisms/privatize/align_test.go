package privatize

import (
	"slices"
	"testing"
)

// TestAlign: words keep their places where contractions were cut, and where new
// words bring signs.
func TestAlign(t *testing.T) {
	for _, c := range []struct {
		original, written string
		after             []string
	}{
		{"a b, c", "x y, z", []string{"x", "y", "z"}},
		{"I can't, you don't", "I dog cat, you x", []string{"I", "dogcat", "you", "x"}},
		{"I can't, you don't", "I dog, you x y", []string{"I", "dog", "you", "xy"}},
		{"it’s (o'clock) now", "a n't (#tag) U.S.", []string{"an't", "tag", "U.S"}},
		{"can't", "#a b", []string{"ab"}},
		{"no way", "x y z", nil},
		{"can't", "x/y", nil},
		{"a b c", "x y", nil},
	} {
		before, after := Align(c.original, c.written)
		if !slices.Equal(after, c.after) || after != nil && len(before) != len(after) {
			t.Errorf("%q, %q: %q of %q, want %q", c.original, c.written, after, before, c.after)
		}
	}
}
