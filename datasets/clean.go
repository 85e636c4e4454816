package datasets

import (
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mldpbench/datasets/fetch"
	"mldpbench/datasets/wordnet"
	"mldpbench/internal/check"
	"mldpbench/internal/list"
)

// Cleaning is a way of turning a text into tokens.
//
// All but CleanNone and those of 2024 lower the case, decode HTML entities, remove HTML tags
// and digits, and split at everything that is not a letter, except that an
// apostrophe inside a word joins ("don't" is one word, "dont" in the output).
type Cleaning string

const (
	// CleanSentiment is the comparative study's preprocessing of IMDb:
	// function words removed but negations kept, then WordNet noun lemmas.
	CleanSentiment Cleaning = "sentiment"
	// CleanTopic is its preprocessing of AG News: negations removed as well.
	CleanTopic Cleaning = "topic"
	// CleanContent removes function words, keeps negations and needs no WordNet.
	CleanContent Cleaning = "content"
	// CleanWords keeps all words.
	CleanWords Cleaning = "words"
	// CleanNone lowers the case and splits at white space, for text that is
	// tokenised already and for word lists.
	CleanNone Cleaning = "none"
)

// way is how a cleaning makes tokens.
type way struct {
	tokens func(c *Cleaner, text string) []string
	stop   map[string]bool
	lemmas bool // of nouns, which needs WordNet
}

var ways = map[Cleaning]way{
	CleanSentiment:     {tokens: (*Cleaner).words, stop: stopWordsButNegations(), lemmas: true},
	CleanTopic:         {tokens: (*Cleaner).words, stop: stopWords(), lemmas: true},
	CleanContent:       {tokens: (*Cleaner).words, stop: stopWordsButNegations()},
	CleanWords:         {tokens: (*Cleaner).words},
	CleanNone:          {tokens: (*Cleaner).fields},
	CleanTopic2024:     {tokens: (*Cleaner).words2024, stop: stopWords(), lemmas: true},
	CleanSentiment2024: {tokens: (*Cleaner).words2024, stop: stopWordsSentiment2024(), lemmas: true},
}

// Cleaner turns texts into tokens. It is safe for concurrent use.
type Cleaner struct {
	way
	lemmatizer *wordnet.Lemmatizer
}

// NewCleaner returns the cleaner of that name; for those that lemmatise, the
// WordNet database is searched under root (see fetch.Root).
func NewCleaner(name Cleaning, root string) (*Cleaner, error) {
	w, ok := ways[name]
	if !ok {
		all := list.Map(slices.Sorted(maps.Keys(ways)), func(n Cleaning) string {
			return string(n)
		})
		return nil, check.OneOf("cleaning", string(name), all...)
	}
	if !w.lemmas {
		return &Cleaner{way: w}, nil
	}
	dir, err := fetch.Locate(root, "wordnet", "database")
	if err != nil {
		return nil, fmt.Errorf("cleaning %q takes noun lemmas from WordNet: %w", name, err)
	}
	l, err := lemmatizer(dir)
	return &Cleaner{w, l}, err
}

// lemmatizers are read once per folder.
var lemmatizers sync.Map

func lemmatizer(dir string) (*wordnet.Lemmatizer, error) {
	once, _ := lemmatizers.LoadOrStore(dir, sync.OnceValues(func() (*wordnet.Lemmatizer, error) {
		return wordnet.OpenLemmatizer(dir)
	}))
	return once.(func() (*wordnet.Lemmatizer, error))()
}

// Tokens cleans one text.
func (c *Cleaner) Tokens(text string) []string { return c.tokens(c, text) }

func (c *Cleaner) fields(text string) []string { return strings.Fields(strings.ToLower(text)) }

// words are the words of a text, as the documentation of Cleaning says.
func (c *Cleaner) words(text string) []string {
	if strings.ContainsRune(text, '&') {
		text = html.UnescapeString(text)
	}
	text = strings.ToLower(tag.ReplaceAllLiteralString(text, " "))
	var tokens []string
	var word []byte
	flush := func() {
		if len(word) > 0 {
			tokens = c.appendWord(tokens, string(word))
			word = word[:0]
		}
	}
	for i := 0; i < len(text); {
		r := rune(text[i])
		n := 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r):
			word = append(word, text[i:i+n]...)
		case r >= '0' && r <= '9': // digits vanish without splitting: "1950s" is "s", a stop word
		case r == '\'' || r == '’':
			word = append(word, '\'')
		default:
			flush()
		}
		i += n
	}
	flush()
	return tokens
}

// appendWord applies the stop list to the word with its apostrophes and then
// to what remains without them ("it's" and "its" are both in the list).
func (c *Cleaner) appendWord(tokens []string, word string) []string {
	word = strings.Trim(word, "'")
	if word == "" || c.stop[word] {
		return tokens
	}
	if strings.IndexByte(word, '\'') >= 0 {
		word = strings.ReplaceAll(word, "'", "")
		if c.stop[word] {
			return tokens
		}
	}
	if c.lemmatizer != nil {
		word = c.lemmatizer.Lemma(word)
	}
	return append(tokens, word)
}

// tag matches an HTML tag. A "<" that does not open one ("<3", "a < b") stays, so
// that it cannot swallow text.
var tag = regexp.MustCompile(`<[/!a-zA-Z][^<>]*>`)
