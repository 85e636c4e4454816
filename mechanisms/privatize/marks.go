package privatize

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Again counts words of a kind, and those of them that came out again as they were, but
// for capitals.
type Again struct {
	Words uint64 `json:"words"`
	Again uint64 `json:"came_out_again"`
}

// add counts a word, which came out again once or not at all.
func (a *Again) add(times uint64) {
	a.Words++
	a.Again += times
}

// Marked counts the words that may be names, numbers and addresses.
type Marked struct {
	Capitals Again `json:"with_capitals"`
	Digits   Again `json:"with_digits"`
	At       Again `json:"with_at"`
}

// add counts other texts too.
func (m *Marked) add(other Marked) {
	sum := func(to *Again, more Again) {
		to.Words += more.Words
		to.Again += more.Again
	}
	sum(&m.Capitals, other.Capitals)
	sum(&m.Digits, other.Digits)
	sum(&m.At, other.At)
}

// count counts a word of a text, which its vocabulary spells in some way, and which is
// written as another or as it was.
func (m *Marked) count(was, spelled, written string) {
	capitals, digits, at := marksOf(was)
	if !capitals && !digits && !at {
		return
	}
	again := uint64(0)
	if written == spelled || strings.EqualFold(was, written) {
		again = 1
	}
	if capitals {
		m.Capitals.add(again)
	}
	if digits {
		m.Digits.add(again)
	}
	if at {
		m.At.add(again)
	}
}

// marksOf says what a word has besides small letters.
func marksOf(word string) (capitals, digits, at bool) {
	for i := 0; i < len(word); i++ {
		switch c := word[i]; {
		case c >= utf8.RuneSelf:
			return strings.ContainsFunc(word, unicode.IsUpper), strings.ContainsFunc(word, unicode.IsNumber),
				strings.Contains(word, "@")
		case 'A' <= c && c <= 'Z':
			capitals = true
		case '0' <= c && c <= '9':
			digits = true
		case c == '@':
			at = true
		}
	}
	return capitals, digits, at
}
