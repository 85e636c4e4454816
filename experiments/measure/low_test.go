package measure

import (
	"math"
	"testing"

	"mldpbench/results"
)

// By hand. Of a, b, c, d the second document has c first, and the third none.
func TestWordsAreCountedWhereTheyOccurFirst(t *testing.T) {
	documents := [][]string{{"a", "b", "a", "x"}, {"b", "c"}, {"c", "x"}, {"d"}}
	words := []string{"c", "a", "d", "b"}
	got := ofWords(words, documents, []bool{false, true, true, true}) // all but c
	want := ofDocuments([]int{2, 0, 0, 1}, []int{2, 1, 0, 1})
	if got.Part != 3 || got.Whole != 4 {
		t.Errorf("%d of %d words are still there, want 3 of 4", got.Part, got.Whole)
	}
	if got.Value.Float() != 75 {
		t.Errorf("LOW = %v, want 75", got.Value.Float())
	}
	if got.Low != want.Low || got.High != want.High {
		t.Errorf("its interval is %v to %v, want that over documents, %v to %v", got.Low.Float(), got.High.Float(),
			want.Low.Float(), want.High.Float())
	}
	other := ofWords(words, documents[1:], []bool{false, true, true, true})
	if other.Whole != 3 {
		t.Errorf("without the document of a there are %d words, want 3", other.Whole)
	}
}

// Words of one document that go together are one observation: twice as many of them
// do not narrow the interval, twice as many documents do. Documents that are all
// alike have the interval of as many numbers that are alike.
func TestSharesOfWordsVaryOverDocuments(t *testing.T) {
	of := func(copies, words int) results.Measured {
		var hits, trials []int
		for range copies {
			hits, trials = append(hits, 0, words, words/2), append(trials, words, words, words)
		}
		m := ofDocuments(hits, trials)
		if m.Value.Float() != 50 {
			t.Fatalf("a half of the words are still there, but LOW = %v, want 50", m.Value.Float())
		}
		return m
	}
	once, longer, more := of(10, 2), of(10, 8), of(40, 2)
	if math.Abs(once.High.Float()-longer.High.Float()) > 1e-9 {
		t.Errorf("of longer documents the interval ends at %v, want %v as of short ones", longer.High.Float(),
			once.High.Float())
	}
	width := func(m results.Measured) float64 { return m.High.Float() - m.Low.Float() }
	if !(width(more) < 0.6*width(once)) {
		t.Errorf("of four times as many documents the interval is %.2f wide, want less than 0.6 of %.2f", width(more),
			width(once))
	}
	alike := ofDocuments([]int{1, 2, 3}, []int{1, 2, 3})
	low := 100 * math.Pow(0.025, 1.0/3)
	if math.Abs(alike.Low.Float()-low) > 1e-9 || alike.High.Float() != 100 {
		t.Errorf("of all words of three documents the interval is %v to %v, want %v to 100", alike.Low.Float(),
			alike.High.Float(), low)
	}
	none := ofDocuments([]int{0}, []int{0})
	if none.Value.Known() || none.Low.Known() {
		t.Errorf("of no words LOW is %v from %v, want nothing", none.Value.Float(), none.Low.Float())
	}
}
