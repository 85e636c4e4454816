package datasets

import (
	"fmt"
	"html"
	"regexp"
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

// Cleanings lists all cleanings.
var Cleanings = []Cleaning{CleanSentiment, CleanTopic, CleanContent, CleanWords, CleanNone, CleanTopic2024,
	CleanSentiment2024}

// lemmatises reports whether a cleaning uses noun lemmas, which needs WordNet.
func (c Cleaning) lemmatises() bool {
	return c == CleanSentiment || c == CleanTopic || c.of2024()
}

func (c Cleaning) of2024() bool { return c == CleanTopic2024 || c == CleanSentiment2024 }

// Cleaner turns texts into tokens. It is safe for concurrent use.
type Cleaner struct {
	split      bool // at non-letters; otherwise at white space
	of2024     bool // see tokens2024
	stop       map[string]struct{}
	lemmatizer *wordnet.Lemmatizer
}

// NewCleaner returns the cleaner of that name; for those that lemmatise, the
// WordNet database is searched under root (see fetch.Root).
func NewCleaner(name Cleaning, root string) (*Cleaner, error) {
	c := &Cleaner{split: name != CleanNone, of2024: name.of2024()}
	switch name {
	case CleanSentiment, CleanContent:
		c.stop = stopWords(true)
	case CleanTopic:
		c.stop = stopWords(false)
	case CleanTopic2024, CleanSentiment2024:
		c.stop = stopWords2024(name)
	case CleanWords, CleanNone:
	default:
		all := list.Map(Cleanings, func(n Cleaning) string { return string(n) })
		return nil, check.OneOf("cleaning", string(name), all...)
	}
	if name.lemmatises() {
		dir, err := fetch.Locate(root, "wordnet", "database")
		if err != nil {
			return nil, fmt.Errorf("cleaning %q takes noun lemmas from WordNet: %w", name, err)
		}
		if c.lemmatizer, err = lemmatizer(dir); err != nil {
			return nil, err
		}
	}
	return c, nil
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
func (c *Cleaner) Tokens(text string) []string {
	if c.of2024 {
		return c.tokens2024(text)
	}
	if !c.split {
		return strings.Fields(strings.ToLower(text))
	}
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
		r, n := rune(text[i]), 1
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
	if word = strings.Trim(word, "'"); word == "" || c.stops(word) {
		return tokens
	}
	if strings.IndexByte(word, '\'') >= 0 {
		if word = strings.ReplaceAll(word, "'", ""); c.stops(word) {
			return tokens
		}
	}
	if c.lemmatizer != nil {
		word = c.lemmatizer.Lemma(word)
	}
	return append(tokens, word)
}

func (c *Cleaner) stops(word string) bool {
	_, ok := c.stop[word]
	return ok
}

// tag matches an HTML tag. A "<" that does not open one ("<3", "a < b") stays, so
// that it cannot swallow text.
var tag = regexp.MustCompile(`<[/!a-zA-Z][^<>]*>`)
