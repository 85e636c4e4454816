package embeddings

import (
	"fmt"
	"slices"
	"testing"
)

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
