package embeddings

import (
	"slices"
	"testing"
)

func TestWithZeroWords(t *testing.T) {
	v, err := NewVocabulary([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSpace("test", v, 2, []float32{3, 4, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Generated = true
	z, err := s.WithZeroWords([]string{"x", "a", "y", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := z.Vocabulary.Words(), []string{"a", "b", "x", "y"}; !slices.Equal(got, want) {
		t.Errorf("words %q, want %q", got, want)
	}
	if got, want := z.Vectors, []float32{3, 4, 0, 1, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("vectors %v, want %v", got, want)
	}
	if d := z.Distance(0, 2); d != 5 {
		t.Errorf("a zero word is at %v from (3, 4), want 5", d)
	}
	if d := z.Distance(2, 3); d != 0 {
		t.Errorf("zero words are at %v from each other", d)
	}
	if !z.Generated || s.Len() != 2 || z.Fingerprint() == s.Fingerprint() {
		t.Errorf("generated %v, the old space has %d words", z.Generated, s.Len())
	}
	if same, err := s.WithZeroWords([]string{"b", "a"}); err != nil || same != s {
		t.Errorf("nothing to add: another space, %v", err)
	}
}
