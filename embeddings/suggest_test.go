package embeddings

import "testing"

func TestSuggest(t *testing.T) {
	v, err := NewVocabulary([]string{"movie", "movies", "move", "naïve", "a"})
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"Movie": "movie", "moviess": "movies", "mvie": "movie", "naive": "naïve", "zebra": "", "x": "", "": "",
	} {
		if got := v.Suggest(word); got != want {
			t.Errorf("%q: suggested %q, want %q", word, got, want)
		}
	}
}
