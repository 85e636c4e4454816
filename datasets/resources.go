package datasets

import (
	"fmt"
	"strings"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/table"
	"mldpbench/datasets/wordnet"
)

// WordList is a set of words, for the share of English tokens.
type WordList struct {
	Files   []string // read
	words   map[string]struct{}
	printed map[string]struct{}
}

// ContainsAsPrinted reports whether the list has the word exactly as spelled,
// including capitals: NLTK's list has English but not english.
func (w *WordList) ContainsAsPrinted(word string) bool {
	_, ok := w.printed[word]
	return ok
}

// Contains reports whether the list has the word; words are lower case.
func (w *WordList) Contains(word string) bool {
	_, ok := w.words[word]
	return ok
}

// Root returns the data folder; see fetch.Root.
func Root(dir string) string { return fetch.Root(dir) }

// OpenWordNet reads the synonyms of WordNet from the data folder root.
func OpenWordNet(root string) (*wordnet.Thesaurus, error) {
	dir, err := fetch.Locate(root, "wordnet", "database")
	if err != nil {
		return nil, err
	}
	return wordnet.OpenThesaurus(dir)
}

// OpenWordList reads an English word list, one word per line, from file or, if
// that is "", from the data folder root. Words are converted to lower case.
func OpenWordList(file, root string) (*WordList, error) {
	if file == "" {
		var err error
		if file, err = fetch.Locate(root, "words", "words"); err != nil {
			return nil, err
		}
	}
	w := &WordList{words: map[string]struct{}{}, printed: map[string]struct{}{}}
	if err := w.read(file); err != nil {
		return nil, err
	}
	return w, nil
}

// OpenNLTKWords reads what nltk.corpus.words.words() returns, the list of
// OpenWordList and that of Basic English, from the data folder root.
func OpenNLTKWords(root string) (*WordList, error) {
	w, err := OpenWordList("", root)
	if err != nil {
		return nil, err
	}
	basic, err := fetch.Locate(root, "words-basic", "words")
	if err != nil {
		return nil, err
	}
	return w, w.read(basic)
}

// read adds the words of a file.
func (w *WordList) read(file string) error {
	n := 0
	err := table.LinesOf(file, func(line string) error {
		if line = strings.TrimSpace(line); line != "" {
			w.printed[line] = struct{}{}
			w.words[strings.ToLower(line)] = struct{}{}
			n++
		}
		return nil
	})
	w.Files = append(w.Files, file)
	if err == nil && n == 0 {
		err = fmt.Errorf("%s: no word in it", file)
	}
	return err
}
