package embeddings

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func smallSpace(t *testing.T, words string, vectors ...float32) *Space {
	t.Helper()
	v, err := NewVocabulary(strings.Fields(words))
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSpace("small", v, len(vectors)/v.Len(), vectors)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRowsPointIntoTheTable: every token has a row of the table, one without a
// vector the zero row, and a document cannot grow into the next.
func TestRowsPointIntoTheTable(t *testing.T) {
	s := smallSpace(t, "a b", 1, 2, 3, 4)
	if got, want := s.Table(), []float32{1, 2, 3, 4, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("table %v, want %v", got, want)
	}
	s.Table()[0] = 7
	if s.Vectors[0] != 1 {
		t.Error("the table is not a copy")
	}
	rows := s.Vocabulary.Rows([][]string{{"b", "?"}, nil, {"a"}})
	if want := [][]int32{{1, 2}, {}, {0}}; !reflect.DeepEqual(rows, want) {
		t.Fatalf("rows %v, want %v", rows, want)
	}
	if _ = append(rows[0], 9); rows[2][0] != 0 {
		t.Error("a document grew into the next")
	}
	if got := s.Matrix([]string{"b", "x", "a"}); !slices.Equal(got, []float32{3, 4, 0, 0, 1, 2}) {
		t.Errorf("matrix %v", got)
	}
}

func TestNamesArePrintable(t *testing.T) {
	s := smallSpace(t, "a", 1)
	for _, name := range []string{"x\x1b[31m", "x\n", "x\x00", "\xff"} {
		if _, err := NewSpace(name, s.Vocabulary, 1, []float32{1}); err == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
}

func TestWithZeroWords(t *testing.T) {
	s := smallSpace(t, "a b", 3, 4, 0, 1)
	s.Generated = true
	z, err := s.WithZeroWords([]string{"x", "a", "y", "x"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(z.Vocabulary.Words(), []string{"a", "b", "x", "y"}) ||
		!slices.Equal(z.Vectors, []float32{3, 4, 0, 1, 0, 0, 0, 0}) || z.Distance(0, 2) != 5 || z.Distance(2, 3) != 0 {
		t.Errorf("%q, %v; %v and %v", z.Vocabulary.Words(), z.Vectors, z.Distance(0, 2), z.Distance(2, 3))
	}
	if !z.Generated || s.Len() != 2 || z.Fingerprint() == s.Fingerprint() {
		t.Errorf("generated %v, the old space has %d words", z.Generated, s.Len())
	}
	if same, err := s.WithZeroWords([]string{"b", "a"}); err != nil || same != s {
		t.Errorf("nothing to add: another space, %v", err)
	}
}

// Counted by hand: b 3, then a and c 2 in order of occurrence, then d and e 1.
func TestByFrequency(t *testing.T) {
	documents := [][]string{{"d", "a", "b"}, nil, {"b", "c", "c", "e", "a", "b"}}
	if got := ByFrequency(documents); !slices.Equal(got, []string{"b", "a", "c", "d", "e"}) {
		t.Errorf("by frequency: %q", got)
	}
	words, counts := CountWords(documents)
	if !slices.Equal(words, []string{"d", "a", "b", "c", "e"}) || counts["c"] != 2 || len(counts) != 5 {
		t.Errorf("%q, %v", words, counts)
	}
}

// As Keras' Tokenizer() numbers and encodes the same texts, less 1.
func TestTokenizer(t *testing.T) {
	tok := NewTokenizer([][]string{{"the", "cat", "the", "don't"}, {"Cat", "New_York", "the", ""}})
	if got := tok.Words(); !slices.Equal(got, []string{"the", "cat", "don't", "new", "york"}) {
		t.Errorf("words %q", got)
	}
	got := fmt.Sprint(tok.Sequences([][]string{{"york", "dog", "CAT", "the"}, {"dog"}, {"a-cat_new"}, nil}))
	if got != "[[4 1 0] [] [1 3] []]" {
		t.Errorf("sequences %s", got)
	}
}
