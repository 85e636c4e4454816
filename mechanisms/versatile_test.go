package mechanisms

import (
	"slices"
	"testing"

	"mldpbench/internal/spacetest"
	"mldpbench/stream"
)

// Windows: 0 has w0 w1 w2 w3; 1 has w1 w2 w4; 2 has w2 w4 w5; 3 has w7 w8. Of the query w1,
// windows 0 and 1 share a word; w3 is its relative. {w0} and {w0, w2} are in 1 of 1 window
// with the query, {w2} in 2 of 3, {w4} and {w2, w4} in 1 of 2.
func TestVersatileByHand(t *testing.T) {
	s := spacetest.Gaussian(t, 20, 3, 1, 69)
	env := Environment{Space: s, Thesaurus: pairs{"w1": "w3"}}
	env.Documents = [][]string{
		{"w0", "w1", "stranger", "w2", "w3"},
		{"w1", "w2", "w4"},
		{"w2", "w4", "w5"},
		{"w7", "w8"},
	}
	m := mustNew(t, env, Settings{Mechanism: "versatile", Epsilon: 1, Parameters: Parameters{"k": 3.0}})
	v := samplerOf[versatile](t, m)
	want := []WordID{0, 0, 2, 2}
	if got := v.scramble([]WordID{1}); !slices.Equal(got, want) {
		t.Errorf("w1 becomes %v, want %v", got, want)
	}
	src := []WordID{1, 1, 1, 1, 1, 1, 1}
	if err := m.Privatize(ctx, src, src, stream.FromUint64(70).Rand()); err != nil ||
		!slices.Equal(src, []WordID{0, 0, 2, 2, 0, 0, 2}) {
		t.Errorf("seven times w1 becomes %v, %v; want the words of the sets, and again from the first", src, err)
	}
	if got := v.scramble([]WordID{15}); got != nil {
		t.Errorf("w15, in no window, becomes %v, want no set", got)
	}
}

// pairs is a thesaurus that covers all words; some have a relative.
type pairs map[string]string

func (pairs) Covers(word string) bool { return word != "stranger" }

func (p pairs) Lemmas(word string) []string { return []string{word, p[word]} }

// Of sets with an equal share of the query's windows that of more windows comes first, and
// a long document is cut into windows of 16 content words.
func TestVersatileRanks(t *testing.T) {
	s := spacetest.Gaussian(t, 60, 3, 1, 71)
	env := Environment{Space: s, Thesaurus: pairs{}}
	env.Documents = [][]string{{"w0", "w1"}, {"w0", "w2"}, {"w0", "w1"}, {"w2", "w9"}}
	var long []string
	for i := range 40 {
		long = append(long, s.Vocabulary.Word(WordID(20+i)))
	}
	env.Documents = append(env.Documents, long)
	m := mustNew(t, env, Settings{Mechanism: "versatile", Epsilon: 1})
	v := samplerOf[versatile](t, m)
	if got := v.scramble([]WordID{0}); !slices.Equal(got, []WordID{1, 2}) {
		t.Errorf("w0 becomes %v, want w1 (2 of 2 windows), then w2 (1 of 2)", got)
	}
	if len(v.words) != 7 || len(v.words[4]) != 16 || len(v.words[6]) != 8 {
		t.Errorf("%d windows, want four and three of 16, 16 and 8 words", len(v.words))
	}
}
