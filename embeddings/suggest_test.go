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

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}} {
		if got := editDistance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%s, %s: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
