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
	if got.Low != want.Low || got.High != want.High || got.Part != 3 || got.Whole != 4 ||
		got.Value.Float() != 75 {
		t.Errorf("%+v, want %+v", got, want)
	}
	if other := ofWords(words, documents[1:], []bool{false, true, true, true}); other.Whole != 3 {
		t.Errorf("a is in none of these documents: %+v", other)
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
			t.Fatalf("%+v", m)
		}
		return m
	}
	once, longer, more := of(10, 2), of(10, 8), of(40, 2)
	if math.Abs(once.High.Float()-longer.High.Float()) > 1e-9 ||
		!(more.High.Float()-more.Low.Float() < 0.6*(once.High.Float()-once.Low.Float())) {
		t.Errorf("%+v; of longer documents %+v, of more %+v", once, longer, more)
	}
	alike := ofDocuments([]int{1, 2, 3}, []int{1, 2, 3})
	if low := 100 * math.Pow(0.025, 1.0/3); math.Abs(alike.Low.Float()-low) > 1e-9 ||
		alike.High.Float() != 100 {
		t.Errorf("all words of three documents: %+v, want %v to 100", alike, low)
	}
	if none := ofDocuments([]int{0}, []int{0}); none.Value.Known() || none.Low.Known() {
		t.Errorf("no words: %+v", none)
	}
}
