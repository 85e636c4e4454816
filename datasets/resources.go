package datasets

import (
	"fmt"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
)

// WordList is a set of words, for the share of English tokens.
type WordList struct {
	Files []string        // read
	words map[string]bool // as printed, and in lower case: true where it is printed so
}

// ContainsAsPrinted reports whether the list has the word exactly as spelled,
// including capitals: NLTK's list has English but not english.
func (w *WordList) ContainsAsPrinted(word string) bool { return w.words[word] }

// Contains reports whether the list has the word; words are lower case.
func (w *WordList) Contains(word string) bool {
	_, ok := w.words[word]
	return ok
}

// Root returns the data folder; see fetch.Root.
func Root(dir string) string { return fetch.Root(dir) }

// wordLists are the entries of the fetch catalogue of each list by its name.
var wordLists = map[string][]string{
	"words": {"words"},
	"nltk":  {"words", "words-basic"},
}

// OpenWordList reads a list of English words, one word per line: "words" is that of
// the data folder root, "nltk" what nltk.corpus.words.words() returns, which has
// Basic English too, anything else a file.
func OpenWordList(ref, root string) (*WordList, error) {
	w := &WordList{words: map[string]bool{}}
	for _, entry := range wordLists[ref] {
		file, err := fetch.Locate(root, entry, "words")
		if err != nil {
			return nil, err
		}
		w.Files = append(w.Files, file)
	}
	if w.Files == nil {
		w.Files = []string{ref}
	}
	for _, file := range w.Files {
		before := len(w.words)
		err := table.LinesOf(file, func(line string) error {
			word := strings.TrimSpace(line)
			if word == "" {
				return nil
			}
			w.words[word] = true
			if lower := strings.ToLower(word); !w.words[lower] {
				w.words[lower] = false // known with capitals only
			}
			return nil
		})
		if err == nil && len(w.words) == before {
			err = fmt.Errorf("%s: no word in it", file)
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}
