package tfidf

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-12 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// The cosine by hand: n = 2 documents; idf of a word of both 1, of one ln(3/2) + 1.
func TestCosines(t *testing.T) {
	rare := math.Log(1.5) + 1
	x := NewIndex([][]string{{"the", "cat", "cat"}, {"the"}})
	got := x.Cosines([]string{"cat", "fish"})
	near(t, "the cosine with the cat", got[0], 2*rare/math.Hypot(1, 2*rare))
	near(t, "the cosine without", got[1], 0)
	got = x.Cosines([]string{"the", "the", "cat", "cat", "cat", "cat"})
	near(t, "the cosine of the same shares", got[0], 1)
	for _, query := range [][]string{nil, {"fish"}} {
		if got := x.Cosines(query); !slices.Equal(got, []float64{0, 0}) {
			t.Errorf("cosines with %q are %v, want 0", query, got)
		}
	}
	if got := NewIndex([][]int32{{}, nil}).Cosines([]int32{1}); !slices.Equal(got, []float64{0, 0}) {
		t.Errorf("cosines of documents without words are %v, want 0", got)
	}
}

// Columns are in the order of terms, rows in that of first occurrence; what is not kept has no column.
func TestRows(t *testing.T) {
	terms := Learn([][]int{{5, 3, 5, 9}, {3, 9}}, Options[[]int, int]{
		Each:   eachWord[int],
		Keep:   func(term int, documents int32) bool { return term != 9 || documents != 2 },
		Weight: func(occurrences float64) float64 { return 1 + math.Log(occurrences) },
	})
	if terms.Width() != 2 {
		t.Fatalf("%d columns, want those of 3 and 5", terms.Width())
	}
	rows := terms.NewRows()
	first := (1 + math.Log(2)) * (math.Log(1.5) + 1)
	for range 2 { // a row must not depend on the one before
		columns, weights := rows.Of([]int{5, 9, 3, 5, 7})
		if fmt.Sprint(columns) != "[1 0]" {
			t.Errorf("columns %v, want those of 5 and 3", columns)
		}
		near(t, "the weight of 5", weights[0], first/math.Hypot(first, 1))
		near(t, "the weight of 3", weights[1], 1/math.Hypot(first, 1))
	}
	columns, weights := rows.Sorted([]int{5, 3, 5})
	if fmt.Sprint(columns) != "[0 1]" {
		t.Errorf("sorted columns %v, want [0 1]", columns)
	}
	near(t, "the sorted weight of 5", weights[1], first/math.Hypot(first, 1))
	columns, _ = rows.Of([]int{9, 8})
	if len(columns) != 0 {
		t.Errorf("a document without terms has the columns %v", columns)
	}
}
