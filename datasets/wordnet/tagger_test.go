package wordnet

import (
	"testing"

	"mldpbench/internal/realdata"
)

func TestTagger(t *testing.T) {
	tagger, err := OpenTagger(database(t, false))
	if err != nil {
		t.Fatal(err)
	}
	// In the small database "dog" has two senses as a noun and one as a verb.
	for word, want := range map[string]string{"dogs": "noun", "galore": "adj", "well": "adv", "zebra": ""} {
		if got := tagger.PartOfSpeech(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	if _, err := OpenTagger(t.TempDir()); err == nil {
		t.Error("an empty folder must be an error")
	}
}

func TestTaggerOfWordNet(t *testing.T) {
	tagger, err := OpenTagger(realdata.File(t, "wordnet-3.0"))
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"dogs": "noun", "running": "verb", "beautiful": "adj", "quickly": "adv", "went": "verb", "of": "",
		"children": "noun", "the": "",
	} {
		if got := tagger.PartOfSpeech(word); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}
