package experiments

import (
	"fmt"
	"testing"
)

// Synonyms of a thesaurus that a text does not hold as one word are no outputs either.
func TestSynonymsAreOneWord(t *testing.T) {
	t.Parallel()
	w := writableThesaurus{thesaurusOf{"good": {"good", "well_made", "a-ok", "dr.", "(fine", "of course"},
		"c++": {"good"}}}
	if got, want := fmt.Sprint(w.Lemmas("good")), "[good well_made a-ok]"; got != want {
		t.Errorf("synonyms are %s, want %s", got, want)
	}
	if w.Covers("c++") || !w.Covers("good") {
		t.Errorf("covers c++: %v, good: %v, want good alone", w.Covers("c++"), w.Covers("good"))
	}
}

type thesaurusOf map[string][]string

func (t thesaurusOf) Covers(word string) bool { return t[word] != nil }

func (t thesaurusOf) Lemmas(word string) []string { return t[word] }
