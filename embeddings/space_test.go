package embeddings

import (
	"reflect"
	"slices"
	"testing"
)

// TestRowsPointIntoTheTable: every token has a row of the table, one without a
// vector the zero row, and a document cannot grow into the next.
func TestRowsPointIntoTheTable(t *testing.T) {
	v, err := NewVocabulary([]string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSpace("small", v, 2, []float32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Table(), []float32{1, 2, 3, 4, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("table %v, want %v", got, want)
	}
	s.Table()[0] = 7
	if s.Vectors[0] != 1 {
		t.Error("the table is not a copy")
	}
	rows := v.Rows([][]string{{"b", "?"}, nil, {"a"}})
	if want := [][]int32{{1, 2}, {}, {0}}; !reflect.DeepEqual(rows, want) {
		t.Fatalf("rows %v, want %v", rows, want)
	}
	if _ = append(rows[0], 9); rows[2][0] != 0 {
		t.Error("a document grew into the next")
	}
}

func TestNamesArePrintable(t *testing.T) {
	v, err := NewVocabulary([]string{"a"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x\x1b[31m", "x\n", "x\x00", "\xff"} {
		if _, err := NewSpace(name, v, 1, []float32{1}); err == nil {
			t.Errorf("name %q is accepted", name)
		}
	}
}
